"use strict";
// A merge tree and a cut -> groups: what src/adamerge/compress/cut.py does, and a test holds the two equal.

const KINDS = { f8: Float64Array, f4: Float32Array, i4: Int32Array, u2: Uint16Array };

function unpack(text, kind) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new KINDS[kind](bytes.buffer);
}

function readStep(raw) {
  const kinds = {
    kept: "i4",
    merges: "i4",
    raw: "f8",
    sequence: "f8",
    alike: "f4",
    colours: "u2",
    lengths: "f4",
    groups: "i4",
  };
  const step = { k: raw.k, name: raw.name, made: raw.made };
  for (const [name, kind] of Object.entries(kinds)) step[name] = unpack(raw[name], kind);
  return step;
}

// Stop before the widest drop that starts at or above the floor; the first of equal drops wins.
function cliff(c, floor) {
  let made = 0;
  let widest = -Infinity;
  for (let t = 0; t + 1 < c.length; t++) {
    if (c[t] >= floor && c[t] - c[t + 1] > widest) [made, widest] = [t + 1, c[t] - c[t + 1]];
  }
  return made;
}

// Every merge up to the last at or above the floor.
function toFloor(c, floor) {
  if (c.length < 2) return 0;
  for (let t = c.length; t > 0; t--) if (c[t - 1] >= floor) return t;
  return 0;
}

// The widest drop above the floor but the one at the cut: 0 if there is none.
function runnerUp(c, floor, but) {
  let made = 0;
  let widest = -Infinity;
  for (let t = 0; t + 1 < c.length; t++) {
    if (t + 1 !== but && c[t] >= floor && c[t] - c[t + 1] > widest) [made, widest] = [t + 1, c[t] - c[t + 1]];
  }
  return made;
}

// NaN where there is nothing to say, as in the library's Cut.
const thetaAt = (c, made) => (made ? c[made - 1] : NaN);
const gapAt = (c, made) => (made && made < c.length ? c[made - 1] - c[made] : NaN);

// The node of every survivor after `made` merges; patch i is node i, merge t makes node n' + t.
function rootsAfter(step, made) {
  const size = step.kept.length;
  const parent = new Int32Array(size + made).fill(-1);
  for (let t = 0; t < made; t++) parent[step.merges[2 * t]] = parent[step.merges[2 * t + 1]] = size + t;
  const root = new Int32Array(size + made);
  for (let node = size + made - 1; node >= 0; node--) root[node] = parent[node] < 0 ? node : root[parent[node]];
  return root.subarray(0, size);
}

// The group of every patch, -1 where pruned, numbered by first patch; and each group's node and patches.
function groupsAfter(step, made, patches) {
  const groups = new Int32Array(patches).fill(-1);
  const list = [];
  const number = new Map();
  const roots = step.groups.length ? step.kept.map((patch) => step.groups[patch]) : rootsAfter(step, made);
  step.kept.forEach((patch, i) => {
    if (!number.has(roots[i])) number.set(roots[i], list.push({ node: roots[i], members: [] }) - 1);
    groups[patch] = number.get(roots[i]);
    list[groups[patch]].members.push(patch);
  });
  return { groups, list };
}
