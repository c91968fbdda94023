// Queries: for each token the best patch before compression and the best group after it.

const queries = data.queries.map((raw) => ({
  text: raw.text,
  tokens: raw.tokens,
  patches: unpack(raw.patches, "f4"),
  extra: unpack(raw.extra, "f4"),
  stored: unpack(raw.stored, "f4"),
}));

function bestPatch(query, token) {
  const row = query.patches.subarray(token * data.patches, (token + 1) * data.patches);
  let at = 0;
  for (let i = 1; i < row.length; i++) if (row[i] > row[at]) at = i;
  return orExtra(query, token, { at, value: row[at] });
}

// A group's vector is the mean of its patches, so its inner product is the mean of theirs; by attention where there is any.
function pooled(query, token, group, step) {
  let [sum, weight, plain] = [0, 0, 0];
  for (const i of group.members) {
    const value = query.patches[token * data.patches + i];
    plain += value;
    if (data.weighted) [sum, weight] = [sum + attention[i] * value, weight + attention[i]];
  }
  const mean = weight > 0 ? sum / weight : plain / group.members.length;
  return step.lengths.length ? mean / (step.lengths[group.node] || 1) : mean;
}

function bestGroup(query, token, list, step) {
  let best = { at: 0, value: -Infinity };
  list.forEach((group, at) => {
    const value = query.stored.length ? query.stored[token * list.length + at] : pooled(query, token, group, step);
    if (value > best.value) best = { at, value };
  });
  return orExtra(query, token, best);
}

// Extra rows are stored untouched and can answer too; they have no place on the page.
function orExtra(query, token, best) {
  const extra = query.extra.length ? query.extra[token] : -Infinity;
  return extra > best.value ? { at: null, value: extra } : best;
}

function answer(query, list, step) {
  const rows = query.tokens.map((token, i) => ({
    token,
    before: bestPatch(query, i),
    after: bestGroup(query, i, list, step),
  }));
  const total = (side) => rows.reduce((sum, row) => sum + row[side].value, 0);
  return { rows, before: total("before"), after: total("after") };
}

// How much likelier than the page's middle each patch is, 0 .. 1: to one token, or the highest over all of them.
function queryHeat(query, token) {
  const n = data.patches;
  const heat = Float64Array.from({ length: n }, (_, i) => {
    if (token !== null) return query.patches[token * n + i];
    return Math.max(...query.tokens.map((_, t) => query.patches[t * n + i]));
  });
  const ordered = heat.slice().sort();
  const [middle, high] = [ordered[n >> 1], ordered[n - 1]];
  return heat.map((value) => Math.max(0, (value - middle) / (high - middle || 1)));
}

function drawAnswer({ rows, before, after }, list, chosen, choose) {
  const lost = before - after;
  byId("score").textContent =
    `Score ${fixed(before)} before, ${fixed(after)} after: ${lost >= 0 ? "lost" : "gained"} ${fixed(Math.abs(lost))} (${percent(Math.abs(lost / (before || 1)))}).`;
  const button = (row, i) => {
    const pressed = String(i === chosen);
    const node = make("button", { type: "button", class: "token", "aria-pressed": pressed }, row.token);
    node.addEventListener("click", () => choose(i === chosen ? null : i));
    return node;
  };
  const cell = (name, value) => make("div", {}, make("span", {}, name), make("small", {}, fixed(value)));
  const patch = ({ at, value }) => cell(at === null ? "an extra row" : data.words[at] || `patch ${at}`, value);
  const group = ({ at, value }) =>
    cell(at === null ? "an extra row" : `group ${at + 1}, ${plural(list[at].members.length, "patch")}`, value);
  const cells = rows.map((row, i) => [
    button(row, i),
    patch(row.before),
    group(row.after),
    signed(row.after.value - row.before.value, (v) => fixed(v)),
  ]);
  const focused = Array.from(byId("tokens").querySelectorAll("button")).indexOf(document.activeElement);
  fillTable(byId("tokens"), ["Token", "Best patch before", "Best group after", "Change"], cells);
  if (focused >= 0) byId("tokens").querySelectorAll("button")[focused]?.focus();
}
