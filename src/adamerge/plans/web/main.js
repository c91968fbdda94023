// The state of the page: which row of the plan is selected.

import "../../html_file/web/theme/theme.js";
import { byId, fillTable, make } from "../../html_file/web/elements.js";
import { chosen, data, rows } from "./plan_data.js";
import { drawPlot, listenToPlot, plot, selectPoint } from "./plot.js";
import { figuresOf } from "./row_text.js";

let selected = chosen < 0 ? null : chosen;

function select(row) {
  if (row === selected) return;
  selected = row;
  show();
}

function show() {
  selectPoint(selected);
  showMethod();
  Array.from(byId("frontier").tBodies[0].rows).forEach((line, i) => {
    line.classList.toggle("selected", i === selected);
  });
}

function showMethod() {
  if (selected === null) {
    byId("method").replaceChildren(make("p", { class: "hint" }, "No method is selected."));
    return;
  }
  const row = rows[selected];
  const figures = make("dl", { class: "figures" });
  for (const [name, text] of figuresOf(row)) {
    figures.append(make("div", {}, make("dt", {}, name), make("dd", {}, text)));
  }
  byId("method").replaceChildren(nameOf(row), figures);
}

function nameOf(row) {
  const name = make("p", {}, make("code", {}, row.method));
  if (row.chosen) name.append(" ", make("span", { class: "chosen" }, "chosen"));
  return name;
}

function fillRows(table, some) {
  const head = ["Method", ...figuresOf(some[0]).map(([name]) => name)];
  const cells = some.map((row) => [methodCell(row), ...figuresOf(row).map(([, text]) => text)]);
  fillTable(table, head, cells);
}

function methodCell(row) {
  const cell = make("span", {}, row.method);
  if (row.chosen) cell.append(make("span", { class: "chosen" }, "chosen"));
  return cell;
}

function start() {
  byId("choice").textContent = data.sentence;
  byId("sample").textContent = data.sample;
  byId("chosen-key").hidden = chosen < 0;
  byId("target-key").hidden = !["bytes_per_page", "max_loss"].includes(data.target?.kind);
  byId("target-word").textContent = data.target?.text ?? "";
  byId("plot").append(plot);

  fillRows(byId("frontier"), rows);
  fillRows(byId("tried"), data.tried);
  Array.from(byId("frontier").tBodies[0].rows).forEach((line, i) => {
    line.addEventListener("pointerover", () => select(i));
  });
  listenToPlot(() => selected, select);
  new ResizeObserver(([entry]) => {
    drawPlot(entry.contentRect.width);
    show();
  }).observe(byId("plot"));
}

start();
