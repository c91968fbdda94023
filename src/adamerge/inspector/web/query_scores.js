// Queries: for each token the best patch before compression and the best group after it.

import { attention, data } from "./page_data.js";

// A match is { at, value }: the patch or group, null for an extra row; and its inner product with the token.

// Extra rows are stored untouched and can be the best match too. They have no place on the page.
function orExtra(query, token, best) {
  if (!query.extra.length) return best;
  const value = query.extra[token];
  return value > best.value ? { at: null, value } : best;
}

function bestPatch(query, token) {
  const n = data.patches;
  const values = query.patches.subarray(token * n, (token + 1) * n);
  let at = 0;
  for (let i = 1; i < n; i++) {
    if (values[i] > values[at]) at = i;
  }
  return orExtra(query, token, { at, value: values[at] });
}

// A group's vector is the mean of its patches, so its inner product is the mean of theirs: weighted by attention if
// the method pools by it and the group has any.
function pooled(query, token, group, step) {
  let plain = 0;
  let weighted = 0;
  let weight = 0;
  for (const i of group.members) {
    const value = query.patches[token * data.patches + i];
    plain += value;
    if (data.weighted) {
      weighted += attention[i] * value;
      weight += attention[i];
    }
  }
  const mean = weight > 0 ? weighted / weight : plain / group.members.length;
  if (!step.lengths.length) return mean;
  return mean / (step.lengths[group.node] || 1);
}

function bestGroup(query, token, list, step) {
  let best = { at: 0, value: -Infinity };
  list.forEach((group, at) => {
    const value = query.stored.length
      ? query.stored[token * list.length + at]
      : pooled(query, token, group, step);
    if (value > best.value) best = { at, value };
  });
  return orExtra(query, token, best);
}

// The best matches of each token, and the score of the page before and after: the sums of their values.
export function scoreQuery(query, list, step) {
  const rows = [];
  let before = 0;
  let after = 0;
  query.tokens.forEach((token, i) => {
    const row = {
      token,
      before: bestPatch(query, i),
      after: bestGroup(query, i, list, step),
    };
    before += row.before.value;
    after += row.after.value;
    rows.push(row);
  });
  return { rows, before, after };
}

// Similarity to one token, or to the best token of the query if token is null: one value for each patch.
function similarities(query, token) {
  const n = data.patches;
  if (token !== null) return query.patches.slice(token * n, (token + 1) * n);
  const highest = query.patches.slice(0, n);
  for (let i = n; i < query.patches.length; i++) {
    highest[i % n] = Math.max(highest[i % n], query.patches[i]);
  }
  return highest;
}

// Similarities above the page's median, as 0 to 1.
export function queryHeat(query, token) {
  const values = similarities(query, token);
  const ordered = values.slice().sort();
  const median = ordered[ordered.length >> 1];
  const range = ordered[ordered.length - 1] - median || 1;
  return Float64Array.from(values, (value) => Math.max(0, (value - median) / range));
}
