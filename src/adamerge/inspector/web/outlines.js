// Patches -> paths of SVG.

import { boxes, data } from "./page_data.js";

export const WIDTH = 1000;
export const HEIGHT = (1000 * data.height) / data.width;

// Patches that lie over others are outlined but not filled, or they would hide what is below.
const covering = new Set(data.covering);

export function isCovering(patch) {
  return covering.has(patch);
}

function boxOf(patch) {
  return Array.from(boxes.subarray(4 * patch, 4 * patch + 4));
}

export function boxPath(patch) {
  const [left, top, right, bottom] = boxOf(patch);
  const start = `M${(left * WIDTH).toFixed(1)} ${(top * HEIGHT).toFixed(1)}`;
  const width = (right - left) * WIDTH;
  const height = (bottom - top) * HEIGHT;
  return `${start}h${width.toFixed(1)}v${height.toFixed(1)}h${(-width).toFixed(1)}z`;
}

export function fillPath(patches) {
  const filled = patches.filter((patch) => !covering.has(patch));
  return filled.map(boxPath).join("");
}

function edgesOf([left, top, right, bottom]) {
  return [
    [left, top, right, top],
    [left, bottom, right, bottom],
    [left, top, left, bottom],
    [right, top, right, bottom],
  ];
}

// The edges of some boxes that no two of them share. Around words there is some room, in parts of the page, or the
// line would lie on their letters.
export function outline(patches, room = 0) {
  const around = data.tiled ? 0 : room;
  const grow = [-around, -around, around, around];
  const edges = new Map();
  for (const patch of patches) {
    const box = boxOf(patch).map((value, side) => (value + grow[side]).toFixed(4));
    for (const edge of edgesOf(box)) {
      const key = edge.join(" ");
      const isShared = edges.delete(key);
      if (!isShared) edges.set(key, edge);
    }
  }
  return Array.from(edges.values(), linePath).join("");
}

function linePath([x1, y1, x2, y2]) {
  return `M${pointPath(x1, y1)}L${pointPath(x2, y2)}`;
}

function pointPath(x, y) {
  return `${(x * WIDTH).toFixed(1)} ${(y * HEIGHT).toFixed(1)}`;
}
