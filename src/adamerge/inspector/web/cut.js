// A merge tree and a cut -> groups, as src/adamerge/compress/cut.py does it. A test holds the two equal.

// The widest drop that starts at or above the floor, as the number of merges before it; 0 if there is none.
// The first of equal drops wins. The drop after `excepted` merges does not count.
function widestDrop(sequence, floor, excepted) {
  let made = 0;
  let widest = -Infinity;
  for (let t = 1; t < sequence.length; t++) {
    const drop = sequence[t - 1] - sequence[t];
    if (sequence[t - 1] >= floor && drop > widest && t !== excepted) {
      made = t;
      widest = drop;
    }
  }
  return made;
}

// Stop before the widest drop.
export function cliff(sequence, floor) {
  return widestDrop(sequence, floor, null);
}

// Stop before the widest drop but one.
export function runnerUp(sequence, floor, made) {
  return widestDrop(sequence, floor, made);
}

// Make every merge up to the last one at or above the floor.
export function toFloor(sequence, floor) {
  if (sequence.length < 2) return 0;
  let made = sequence.length;
  while (made > 0 && sequence[made - 1] < floor) made--;
  return made;
}

// The cosine of the last merge made; NaN without a merge, as in the library's Cut.
export function thetaAt(sequence, made) {
  return made ? sequence[made - 1] : NaN;
}

// The drop after the last merge made; NaN where none was made, or where none is left.
export function gapAt(sequence, made) {
  if (!made || made >= sequence.length) return NaN;
  return sequence[made - 1] - sequence[made];
}

// The node of every survivor after `made` merges. Survivor i is node i, merge t makes node n' + t.
function nodesAfter(step, made) {
  const survivors = step.kept.length;
  const nodes = survivors + made;

  const parent = new Int32Array(nodes).fill(-1);
  for (let t = 0; t < made; t++) {
    parent[step.merges[2 * t]] = survivors + t;
    parent[step.merges[2 * t + 1]] = survivors + t;
  }

  const root = new Int32Array(nodes);
  for (let node = nodes - 1; node >= 0; node--) {
    root[node] = parent[node] < 0 ? node : root[parent[node]];
  }
  return root.subarray(0, survivors);
}

// groups: the group of every patch, -1 where pruned, numbered by the first patch.
// list: the node and the patches of every group.
export function groupsAfter(step, made, patches) {
  const hasTree = !step.groups.length;
  const nodes = hasTree ? nodesAfter(step, made) : step.kept.map((patch) => step.groups[patch]);

  const groups = new Int32Array(patches).fill(-1);
  const list = [];
  const numberOf = new Map();
  step.kept.forEach((patch, i) => {
    const node = nodes[i];
    if (!numberOf.has(node)) {
      numberOf.set(node, list.length);
      list.push({ node, members: [] });
    }
    groups[patch] = numberOf.get(node);
    list[groups[patch]].members.push(patch);
  });
  return { groups, list };
}
