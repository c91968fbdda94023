// What Python wrote into the page (page_json.py), as arrays.

const ARRAYS = { f8: Float64Array, f4: Float32Array, i4: Int32Array, u2: Uint16Array };

function unpack(text, kind) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new ARRAYS[kind](bytes.buffer);
}

// The method at one k. Without a tree, `groups` has the groups; with a tree it is empty.
function readStep(written) {
  return {
    k: written.k,
    name: written.name,
    made: written.made,
    kept: unpack(written.kept, "i4"),
    merges: unpack(written.merges, "i4"),
    cosines: unpack(written.cosines, "f8"),
    sequence: unpack(written.sequence, "f8"),
    meanCosines: unpack(written.mean_cosines, "f4"),
    lengths: unpack(written.lengths, "f4"),
    groups: unpack(written.groups, "i4"),
    colours: unpack(written.colours, "u2"),
  };
}

function readQuery(written) {
  return {
    text: written.text,
    tokens: written.tokens,
    patches: unpack(written.patches, "f4"),
    extra: unpack(written.extra, "f4"),
    stored: unpack(written.stored, "f4"),
  };
}

export const data = JSON.parse(document.getElementById("data").textContent);
export const steps = data.steps.map(readStep);
export const queries = data.queries.map(readQuery);
export const boxes = unpack(data.boxes, "f4");
export const attention = unpack(data.attention, "f4");
export const totalAttention = attention.reduce((sum, value) => sum + value, 0);

// The share of the page's attention that some patches have; NaN without attention.
export function attentionShare(patches) {
  if (!totalAttention) return NaN;
  const sum = patches.reduce((total, i) => total + attention[i], 0);
  return sum / totalAttention;
}

// The words of some patches, in a row of equal ones only the first.
export function wordsOf(patches) {
  const words = patches.map((i) => data.words[i]).filter(Boolean);
  return words.filter((word, i) => word !== words[i - 1]);
}
