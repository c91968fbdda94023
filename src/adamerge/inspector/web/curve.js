// The merge-cosine curve with its cut, and a handle that moves along it.

import { gapAt, thetaAt } from "./cut.js";
import { byId, fillTable, make } from "../../html_file/web/elements.js";
import { fixed, plural, whole } from "../../html_file/web/format.js";

const LEFT = 40;
const RIGHT = 14;
const TOP = 14;
const BOTTOM = 30;
const HEIGHT = 250;
const NARROWEST = 260;
const FLOOR = HEIGHT - BOTTOM; // where the axis of merges is
const LABEL = 150; // room that the label of a gap takes
const TICK = 0.25;

const size = { width: 480 };
const drawing = make("g", { "aria-hidden": "true" });
const handle = make("g", {
  class: "handle",
  tabindex: "0",
  role: "slider",
  "aria-label": "Cut: merges made",
  "aria-valuemin": "0",
});
export const plot = make("svg", { class: "plot" }, drawing, handle);

export function setWidth(pixels) {
  size.width = Math.max(NARROWEST, Math.round(pixels));
}

function clamp(value, lowest, highest) {
  return Math.max(lowest, Math.min(highest, value));
}

// Merges <-> x, cosine -> y. What is below the axis is drawn on it: the sequence of `height` is 1 - h^2 / 2, which
// falls far below every cosine.
function scalesOf(step) {
  const low = Math.floor(Math.min(0, ...step.cosines) * 10) / 10;
  const width = size.width - LEFT - RIGHT;
  const merges = step.sequence.length;
  const last = Math.max(1, merges);
  return {
    low,
    x: (made) => LEFT + (width * made) / last,
    y: (cosine) => TOP + ((1 - Math.max(cosine, low)) / (1 - low)) * (FLOOR - TOP),
    mergesAt: (x) => clamp(Math.round(((x - LEFT) / width) * last), 0, merges),
  };
}

function drawAxes(step, { low, x, y }) {
  const parts = [];
  for (let tick = 1; tick >= low - 1e-9; tick -= TICK) {
    parts.push(make("line", { class: "grid", ...acrossAt(y(tick)) }));
    const place = { x: LEFT - 7, y: y(tick) + 4, "text-anchor": "end" };
    parts.push(make("text", place, fixed(tick, 2)));
  }
  const last = step.sequence.length;
  const anchors = new Map([
    [0, "start"],
    [Math.round(last / 2), "middle"],
    [last, "end"],
  ]);
  for (const [made, anchor] of anchors) {
    const text = made === last ? `${whole(made)} merges` : whole(made);
    parts.push(make("text", { x: x(made), y: HEIGHT - 12, "text-anchor": anchor }, text));
  }
  return parts;
}

function acrossAt(y) {
  return { x1: LEFT, x2: size.width - RIGHT, y1: y, y2: y };
}

// A bar from the cosine before a drop to the cosine after it. `right` puts the label on its right side.
function drawGap(step, made, kind, word, { x, y }, right) {
  if (!made || made >= step.sequence.length) return [];
  const top = y(step.sequence[made - 1]);
  const bottom = y(step.sequence[made]);
  const bar = { x1: x(made), x2: x(made), y1: top, y2: Math.max(bottom, top + 2) };
  const place = {
    x: x(made) + (right ? 9 : -9),
    y: (top + bottom) / 2 + 4,
    "text-anchor": right ? "start" : "end",
  };
  const label = `${word} ${fixed(gapAt(step.sequence, made))}`;
  return [
    make("line", { class: `gap ${kind}`, ...bar }),
    make("text", { class: kind, ...place }, label),
  ];
}

function drawSecondGap(step, made, second, scales) {
  const at = scales.x(second.made);
  const hasRoom = at < size.width - LABEL;
  const right = at < LABEL || (second.made > made && hasRoom);
  return drawGap(step, second.made, "dull", second.word, scales, right);
}

function drawFloor(floor, { low, y }) {
  if (floor === null || floor < low) return [];
  const below = floor > 0.9; // or the label would lie on the upper edge
  const place = { x: LEFT + 6, y: y(floor) + (below ? 15 : -6) };
  return [
    make("line", { class: "floor", ...acrossAt(y(floor)) }),
    make("text", place, `c_min ${fixed(floor, 2)}`),
  ];
}

function drawMade(made, { x }) {
  const width = Math.max(0, x(made) - x(0));
  return make("rect", { class: "made", x: x(0), y: TOP, width, height: FLOOR - TOP });
}

// second: the gap to show beside that of the cut, null for none.
export function drawCurve({ step, made, floor }, second) {
  const scales = scalesOf(step);
  const { x, y } = scales;
  const pointAt = (cosine, t) => `${x(t + 1).toFixed(1)} ${y(cosine).toFixed(1)}`;
  const dots = Array.from(step.cosines, (cosine, t) => `M${pointAt(cosine, t)}h0`);
  const line = Array.from(step.sequence, pointAt);

  const parts = [
    ...drawAxes(step, scales),
    drawMade(made, scales),
    make("path", { class: "dots", d: dots.join("") }),
    make("path", { class: "sequence", d: `M${line.join("L")}` }),
    ...drawFloor(floor, scales),
  ];
  if (second) parts.push(...drawSecondGap(step, made, second, scales));
  parts.push(...drawGap(step, made, "warm", "gap", scales, x(made) < size.width * 0.6));

  drawHandle(step, made, x(made));
  drawing.replaceChildren(...parts); // without the handle, or it would lose the focus
  plot.setAttribute("viewBox", `0 0 ${size.width} ${HEIGHT}`);
}

function drawHandle(step, made, x) {
  const merges = plural(made, "merge");
  const vectors = plural(step.kept.length - made, "vector");
  const theta = fixed(thetaAt(step.sequence, made));
  handle.setAttribute("aria-valuemax", step.sequence.length);
  handle.setAttribute("aria-valuenow", made);
  handle.setAttribute("aria-valuetext", `${merges}, ${vectors}, theta ${theta}`);
  handle.replaceChildren(
    make("rect", { class: "grip", x: x - 14, y: TOP, width: 28, height: FLOOR - TOP }),
    make("line", { class: "cut", x1: x, x2: x, y1: TOP, y2: FLOOR }),
    make("circle", { cx: x, cy: FLOOR, r: 8 }),
  );
}

const MERGES_OF_KEY = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
  Home: -Infinity,
  End: Infinity,
};

// `current()` gives the result that is shown, `moveTo(made)` shows another cut.
export function listenToCurve(current, moveTo) {
  const mergesUnder = (event) => {
    const place = plot.getBoundingClientRect();
    const x = ((event.clientX - place.left) / place.width) * size.width;
    return scalesOf(current().step).mergesAt(x);
  };

  plot.addEventListener("pointerdown", (event) => {
    plot.setPointerCapture(event.pointerId);
    handle.focus({ preventScroll: true });
    moveTo(mergesUnder(event));
    event.preventDefault();
  });

  plot.addEventListener("pointermove", (event) => {
    if (plot.hasPointerCapture(event.pointerId)) moveTo(mergesUnder(event));
  });

  handle.addEventListener("keydown", (event) => {
    if (!(event.key in MERGES_OF_KEY)) return;
    event.preventDefault();
    const { step, made } = current();
    moveTo(clamp(made + MERGES_OF_KEY[event.key], 0, step.sequence.length));
  });
}

export function fillCurveTable(step) {
  const rows = Array.from(step.sequence, (cosine, t) => [
    whole(t + 1),
    fixed(step.cosines[t]),
    fixed(cosine),
    fixed(gapAt(step.sequence, t + 1)),
    whole(step.kept.length - t - 1),
  ]);
  const head = ["Merge", "Raw cosine", "Sequence", "Drop after", "Groups left"];
  fillTable(byId("curve-table"), head, rows);
}
