// The scores of a query in words: the score of the page, and the table of tokens.

import { byId, fillTable, make } from "../../html_file/web/elements.js";
import { fixed, percent, plural, signed } from "../../html_file/web/format.js";
import { data } from "./page_data.js";

const HEAD = ["Token", "Best patch before", "Best group after", "Change"];

function describeScore(before, after) {
  const lost = before - after;
  const word = lost >= 0 ? "lost" : "gained";
  const change = fixed(Math.abs(lost));
  const share = percent(Math.abs(lost / (before || 1)));
  return `Score ${fixed(before)} before, ${fixed(after)} after: ${word} ${change} (${share}).`;
}

function cell(name, value) {
  return make("div", {}, make("span", {}, name), make("small", {}, fixed(value)));
}

function patchCell({ at, value }) {
  if (at === null) return cell("an extra row", value);
  return cell(data.words[at] || `patch ${at}`, value);
}

function groupCell({ at, value }, list) {
  if (at === null) return cell("an extra row", value);
  return cell(`group ${at + 1}, ${plural(list[at].members.length, "patch")}`, value);
}

// chosen: the token that is shown on the page, null for none; `choose(token)` shows another.
export function showScores({ rows, before, after }, list, chosen, choose) {
  byId("score").textContent = describeScore(before, after);

  const cells = rows.map((row, token) => {
    const isChosen = token === chosen;
    const attributes = { type: "button", class: "token", "aria-pressed": String(isChosen) };
    const button = make("button", attributes, row.token);
    button.addEventListener("click", () => choose(isChosen ? null : token));
    const change = row.after.value - row.before.value;
    return [button, patchCell(row.before), groupCell(row.after, list), signed(change, fixed)];
  });
  replaceRows(byId("tokens"), cells);
}

// The button that has the focus is a new one afterwards, and gets the focus again.
function replaceRows(table, cells) {
  const focused = Array.from(table.querySelectorAll("button")).indexOf(document.activeElement);
  fillTable(table, HEAD, cells);
  if (focused >= 0) table.querySelectorAll("button")[focused]?.focus();
}
