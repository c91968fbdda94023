// A group, or a patch that was pruned, in words: its label, its card, and the table of all of them.

import { byId, fillTable, make } from "../../html_file/web/elements.js";
import { clipped, fixed, percent, plural, whole } from "../../html_file/web/format.js";
import { attentionShare, data, totalAttention, wordsOf } from "./page_data.js";
import { colourOf } from "./palette.js";
import { colourNumber, meanCosine } from "./result.js";

const HINT = "Point at a group on the page, or focus the page and use the arrow keys.";
const MAX_WORDS = 40;
const MAX_MEMBERS = 60;
const MAX_IN_TABLE = 12;

function nameOf(group, number) {
  return group.pruned ? `Patch ${group.members[0]}` : `Group ${number + 1}`;
}

export function describe(group, number, step) {
  const parts = [group.pruned ? "pruned" : plural(group.members.length, "patch")];
  if (totalAttention) parts.push(`${percent(attentionShare(group.members))} of attention`);
  const cosine = meanCosine(step, group);
  if (group.members.length > 1 && !Number.isNaN(cosine)) {
    parts.push(`mean cosine ${fixed(cosine, 2)}`);
  }
  return `${nameOf(group, number)}: ${parts.join(", ")}`;
}

export function showGroup(number, parts, step) {
  const card = byId("group");
  if (number === null) {
    card.replaceChildren(make("p", { class: "hint" }, HINT));
    return;
  }
  const group = parts[number];
  card.replaceChildren(titleOf(group, number, parts, step), factsOf(group, step));

  const words = wordsOf(group.members);
  if (words.length) card.append(make("p", { class: "words" }, clipped(words, MAX_WORDS, " · ")));
  if (!group.pruned) {
    const members = clipped(group.members.map(String), MAX_MEMBERS, ", ");
    card.append(make("p", { class: "members" }, `Members: patch ${members}`));
  }
}

function titleOf(group, number, parts, step) {
  const swatch = make("i", { class: "swatch" });
  const name = make("b", {}, nameOf(group, number));
  if (group.pruned) {
    swatch.style.background = "var(--line)";
    return make("p", { class: "which" }, swatch, name, " was pruned");
  }
  swatch.style.background = colourOf(colourNumber(step, group, number));
  const groups = parts.filter((part) => !part.pruned).length;
  return make("p", { class: "which" }, swatch, name, ` of ${whole(groups)}`);
}

function factsOf(group, step) {
  const facts = make("dl", { class: "facts" });
  const add = (name, value) => {
    facts.append(make("div", {}, make("dt", {}, name), make("dd", {}, value)));
  };
  if (!group.pruned) add("Patches", whole(group.members.length));
  if (totalAttention) add("Attention", percent(attentionShare(group.members)));
  if (!group.pruned) add("Mean cosine", fixed(meanCosine(step, group)));
  return facts;
}

export function fillGroupsTable(parts, step) {
  const hasWords = data.words.length > 0;
  const rows = parts.map((group, number) => {
    const contents = hasWords ? wordsOf(group.members) : group.members.map(String);
    return [
      group.pruned ? "pruned" : String(number + 1),
      whole(group.members.length),
      totalAttention ? percent(attentionShare(group.members)) : "–",
      fixed(meanCosine(step, group)),
      clipped(contents, MAX_IN_TABLE, " "),
    ];
  });
  const last = hasWords ? "Words" : "Members";
  fillTable(byId("groups-table"), ["Group", "Patches", "Attention", "Mean cosine", last], rows);
}
