// Elements of the page. Text always goes in as text, never as HTML.

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = ["svg", "g", "path", "rect", "circle", "line", "text", "title"];

export function byId(id) {
  return document.getElementById(id);
}

export function make(tag, attributes, ...children) {
  const isSvg = SVG_TAGS.includes(tag);
  const node = isSvg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// A sentence in place of a part that is missing.
export function explain(where, sentence) {
  byId(where).append(make("p", { class: "why" }, sentence));
}

function headRow(cells) {
  return make("tr", {}, ...cells.map((cell) => make("th", { scope: "col" }, cell)));
}

function bodyRow([first, ...others]) {
  const name = make("th", { scope: "row" }, first);
  return make("tr", {}, name, ...others.map((cell) => make("td", {}, cell)));
}

export function fillTable(table, head, rows) {
  const top = make("thead", {}, headRow(head));
  const body = make("tbody", {}, ...rows.map(bodyRow));
  table.replaceChildren(top, body);
}
