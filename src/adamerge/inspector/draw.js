// Small things that every part of the page draws with.

const data = JSON.parse(document.getElementById("data").textContent);
const steps = data.steps.map(readStep);
const boxes = unpack(data.boxes, "f4");
const attention = unpack(data.attention, "f4");
const totalAttention = attention.reduce((sum, value) => sum + value, 0);
const WIDTH = 1000;
const HEIGHT = (1000 * data.height) / data.width;

const PALETTE = [
  "#2f74d0",
  "#f08a24",
  "#2f9e63",
  "#dc3f45",
  "#8a5fd0",
  "#0fa3a8",
  "#e06bb4",
  "#8d9a10",
  "#8b5a3c",
  "#3a3fb5",
  "#6cbf3a",
  "#b01693",
];

const byId = (id) => document.getElementById(id);
const colourOf = (i) => PALETTE[i] || `hsl(${Math.round(i * 137.508) % 360} 65% ${38 + (i % 3) * 9}%)`;

// Text always goes in as text, never as HTML.
function make(tag, attributes, ...children) {
  const vector = ["svg", "g", "path", "rect", "circle", "line", "text", "title"].includes(tag);
  const node = vector ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const whole = (value) => value.toLocaleString("en-US");
const fixed = (value, digits = 3) => (Number.isNaN(value) ? "–" : value.toFixed(digits).replace("-", "−"));
const signed = (value, text) => (value > 0 ? "+" : value < 0 ? "−" : "±") + text(Math.abs(value));
const percent = (value, digits = 1) => `${(100 * value).toFixed(digits)}%`;
const plural = (count, word) => `${whole(count)} ${word}${count === 1 ? "" : word.endsWith("ch") ? "es" : "s"}`;

// A sentence in place of a part that is not there.
function explain(where, parts, sentences) {
  for (const part of parts) byId(part).hidden = true;
  for (const sentence of sentences) byId(where).append(make("p", { class: "why" }, sentence));
}

function fillTable(table, head, rows) {
  const cells = (tag, row) =>
    row.map((cell, i) => make(i || tag === "th" ? tag : "th", i || tag === "th" ? {} : { scope: "row" }, cell));
  const top = make("thead", {}, make("tr", {}, ...cells("th", head)));
  for (const cell of top.querySelectorAll("th")) cell.setAttribute("scope", "col");
  table.replaceChildren(top, make("tbody", {}, ...rows.map((row) => make("tr", {}, ...cells("td", row)))));
}

// The words of some patches, each once in a row.
function wordsOf(members) {
  const words = members.map((i) => data.words[i] || "").filter(Boolean);
  return words.filter((word, i) => word !== words[i - 1]);
}

// Patches that lie over others are outlined but not filled, or they would hide what is below.
const covering = new Set(data.covering);
const fillPath = (members) =>
  members
    .filter((i) => !covering.has(i))
    .map(boxPath)
    .join("");

function boxPath(i) {
  const [left, top, right, bottom] = boxes.subarray(4 * i, 4 * i + 4);
  const [x, y] = [left * WIDTH, top * HEIGHT];
  return `M${x.toFixed(1)} ${y.toFixed(1)}h${((right - left) * WIDTH).toFixed(1)}v${((bottom - top) * HEIGHT).toFixed(1)}h${((left - right) * WIDTH).toFixed(1)}z`;
}

// The edges of some boxes that no two of them share; words get some room, or the line would lie on their letters.
function outline(members, room = 0) {
  const edges = new Map();
  const grow = data.tiled ? [0, 0, 0, 0] : [-room, -room, room, room];
  for (const i of members) {
    const [left, top, right, bottom] = Array.from(boxes.subarray(4 * i, 4 * i + 4), (v, side) =>
      (v + grow[side]).toFixed(4),
    );
    for (const edge of [
      [left, top, right, top],
      [left, bottom, right, bottom],
      [left, top, left, bottom],
      [right, top, right, bottom],
    ]) {
      const key = edge.join(" ");
      if (!edges.delete(key)) edges.set(key, edge);
    }
  }
  const point = (x, y) => `${(x * WIDTH).toFixed(1)} ${(y * HEIGHT).toFixed(1)}`;
  return Array.from(edges.values(), ([a, b, c, d]) => `M${point(a, b)}L${point(c, d)}`).join("");
}
