// Bytes and losses -> places in the plot, and where its axes have marks.

const STEPS = [1, 2, 5];
const MOST_LOSSES = 8; // marks of the axis of losses
const PIXELS_OF_SIZE = 60; // a mark of the axis of bytes takes so many

// Bytes on a logarithmic axis from `left` to `right`.
export function byteScale(values, left, right) {
  const low = Math.log(Math.min(...values) * 0.9);
  const high = Math.log(Math.max(...values) * 1.1);
  const place = (bytes) => left + ((right - left) * (Math.log(bytes) - low)) / (high - low);
  return {
    place,
    marks: byteMarks(Math.exp(low), Math.exp(high), (right - left) / PIXELS_OF_SIZE),
  };
}

// 1, 2 and 5 of every power of ten; only 1 where there would be too many.
function byteMarks(low, high, most) {
  const all = [];
  const last = Math.floor(Math.log10(high));
  for (let power = Math.floor(Math.log10(low)); power <= last; power += 1) {
    for (const step of STEPS) all.push({ step, bytes: step * 10 ** power });
  }
  const inside = all.filter(({ bytes }) => bytes >= low && bytes <= high);
  const rounded = inside.filter(({ step }) => step === 1);
  const shown = inside.length > most && rounded.length > 1 ? rounded : inside;
  return shown.map(({ bytes }) => bytes);
}

// Losses on an axis from `bottom` up to `top`; it always has 0.
export function lossScale(values, bottom, top) {
  const low = Math.min(0, ...values);
  const high = Math.max(0.01, ...values);
  const step = lossStep(high - low);
  const first = Math.floor(low / step);
  const last = Math.ceil(high / step);
  const place = (loss) =>
    bottom + ((top - bottom) * (loss - first * step)) / ((last - first) * step);
  const marks = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
  return { place, marks };
}

// 1, 2 or 5 of a power of ten, so that the axis has a handful of marks.
function lossStep(range) {
  const power = 10 ** Math.floor(Math.log10(range / MOST_LOSSES));
  const step = STEPS.find((size) => range / (size * power) < MOST_LOSSES) ?? 10;
  return step * power;
}
