// The frontier: bytes a page against expected loss. A point can be selected.

import { make } from "../../html_file/web/elements.js";
import { fixed } from "../../html_file/web/format.js";
import { chosen, data, rows } from "./plan_data.js";
import { sentenceOf, size } from "./row_text.js";
import { byteScale, lossScale } from "./scales.js";

const LEFT = 52;
const RIGHT = 16;
const TOP = 26;
const BOTTOM = 44;
const HEIGHT = 340;
const FLOOR = HEIGHT - BOTTOM;
const NARROWEST = 280;
const CAP = 5; // half of the width of an interval's ends
const LABEL = 90; // room that the label of the choice takes

const drawing = make("g", { "aria-hidden": "true" });
const mark = make("g", { "aria-hidden": "true" });
const points = make("g", { role: "presentation" });
export const plot = make(
  "svg",
  { class: "plot", role: "listbox", tabindex: "0", "aria-label": "Methods of the frontier" },
  drawing,
  mark,
  points,
);

let places = []; // of the rows, in pixels

export function drawPlot(pixels) {
  const width = Math.max(NARROWEST, Math.round(pixels));
  const scales = scalesFor(width);
  places = rows.map((row) => ({
    x: scales.bytes.place(row.bytes_per_page),
    y: scales.loss.place(row.expected_loss),
    low: scales.loss.place(row.low),
    high: scales.loss.place(row.high),
  }));
  drawing.replaceChildren(
    ...drawAxes(width, scales),
    ...drawTarget(width, scales),
    make("path", { class: "band", d: bandPath() }),
    make("path", { class: "tried", d: triedPath(scales) }),
    make("path", { class: "frontier", d: `M${places.map(({ x, y }) => `${x} ${y}`).join("L")}` }),
    ...labelChoice(width),
  );
  points.replaceChildren(...places.map(drawPoint));
  plot.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
}

function scalesFor(width) {
  const all = [...rows, ...data.tried];
  const bytes = all.map((row) => row.bytes_per_page);
  const losses = all.map((row) => row.expected_loss);
  for (const row of rows) losses.push(row.low, row.high);
  return {
    bytes: byteScale(bytes, LEFT, width - RIGHT),
    loss: lossScale(losses, FLOOR, TOP),
  };
}

function drawAxes(width, { bytes, loss }) {
  const parts = [];
  for (const value of loss.marks) {
    const y = loss.place(value);
    const isZero = Math.abs(value) < 1e-9;
    const line = { x1: LEFT, x2: width - RIGHT, y1: y, y2: y };
    parts.push(make("line", { class: isZero ? "zero" : "grid", ...line }));
    const text = fixed(isZero ? 0 : value, 2);
    parts.push(make("text", { x: LEFT - 7, y: y + 4, "text-anchor": "end" }, text));
  }
  for (const value of bytes.marks) {
    const x = bytes.place(value);
    parts.push(make("line", { class: "grid", x1: x, x2: x, y1: FLOOR, y2: FLOOR + 5 }));
    parts.push(make("text", { x, y: FLOOR + 19, "text-anchor": "middle" }, size(value)));
  }
  parts.push(make("text", { x: 2, y: 12 }, "expected loss of nDCG@5"));
  const end = { x: width - RIGHT, y: HEIGHT - 6, "text-anchor": "end" };
  parts.push(make("text", end, "bytes a page"));
  return parts;
}

// A target in bytes is a line up, a target in loss a line across; others have no line.
function drawTarget(width, { bytes, loss }) {
  if (!data.target) return [];
  const { kind, value } = data.target;
  if (kind === "bytes_per_page") {
    const x = bytes.place(value);
    const isInside = x >= LEFT && x <= width - RIGHT;
    return isInside ? [make("line", { class: "target", x1: x, x2: x, y1: TOP, y2: FLOOR })] : [];
  }
  if (kind === "max_loss") {
    const y = loss.place(value);
    const isInside = y >= TOP && y <= FLOOR;
    const across = { x1: LEFT, x2: width - RIGHT, y1: y, y2: y };
    return isInside ? [make("line", { class: "target", ...across })] : [];
  }
  return [];
}

function bandPath() {
  const above = places.map(({ x, high }) => `${x} ${high}`);
  const below = places.map(({ x, low }) => `${x} ${low}`);
  return `M${[...above, ...below.reverse()].join("L")}Z`;
}

function triedPath({ bytes, loss }) {
  const dots = data.tried.map(
    (row) => `M${bytes.place(row.bytes_per_page)} ${loss.place(row.expected_loss)}h0`,
  );
  return dots.join("");
}

function labelChoice(width) {
  if (chosen < 0) return [];
  const { x, y } = places[chosen];
  const isLeft = x > width - RIGHT - LABEL;
  const place = { x: x + (isLeft ? -14 : 14), y: y - 12, "text-anchor": isLeft ? "end" : "start" };
  return [make("text", { class: "warm", ...place }, "chosen")];
}

function drawPoint({ x, y }, i) {
  const row = rows[i];
  const option = make("g", {
    class: "point",
    id: `row-${i}`,
    role: "option",
    "aria-selected": "false",
    "aria-label": sentenceOf(row),
  });
  option.append(make("circle", { cx: x, cy: y, r: 5 }));
  if (row.chosen) option.append(make("circle", { class: "ring", cx: x, cy: y, r: 9 }));
  return option;
}

// Mark a row and its interval; null for none.
export function selectPoint(selected) {
  Array.from(points.children).forEach((point, i) => {
    point.setAttribute("aria-selected", String(i === selected));
  });
  if (selected === null) {
    plot.removeAttribute("aria-activedescendant");
    mark.replaceChildren();
    return;
  }
  plot.setAttribute("aria-activedescendant", `row-${selected}`);
  const { x, low, high } = places[selected];
  const ends = [low, high].map((y) => `M${x - CAP} ${y}h${2 * CAP}`);
  const line = make("path", { class: "interval", d: `M${x} ${low}V${high}${ends.join("")}` });
  mark.replaceChildren(line);
}

const STEPS_OF_KEY = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  Home: -Infinity,
  End: Infinity,
};

// `current()` gives the selected row, null for none; `select(row)` selects another.
export function listenToPlot(current, select) {
  plot.addEventListener("pointermove", (event) => select(nearest(event)));
  plot.addEventListener("pointerdown", (event) => select(nearest(event)));
  plot.addEventListener("keydown", (event) => {
    if (!(event.key in STEPS_OF_KEY)) return;
    event.preventDefault();
    const next = (current() ?? 0) + STEPS_OF_KEY[event.key];
    select(Math.max(0, Math.min(rows.length - 1, next)));
  });
  plot.addEventListener("focus", () => select(current() ?? 0));
}

function nearest(event) {
  const frame = plot.getBoundingClientRect();
  const x = event.clientX - frame.left;
  const y = event.clientY - frame.top;
  const distances = places.map((place) => Math.hypot(place.x - x, place.y - y));
  return distances.indexOf(Math.min(...distances));
}
