// The page with its patches: attention, kept and pruned, groups, and the heat of a query.

import { byId, make } from "../../html_file/web/elements.js";
import { describe } from "./group.js";
import { boxPath, fillPath, HEIGHT, isCovering, outline, WIDTH } from "./outlines.js";
import { colourOf } from "./palette.js";
import { colourNumber } from "./result.js";

const ROOM = 0.003; // of the page, between a word and the ring around it
const FAINTEST = 0.02; // heat that is drawn
const STRONGEST = 0.8; // opacity of full heat

export const LAYERS = {
  groups: "Groups",
  kept: "Kept",
  attention: "Attention",
  query: "Query",
  none: "Page",
};

export const sheet = make("svg", {
  viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
  preserveAspectRatio: "none",
  role: "listbox",
  tabindex: "0",
  "aria-label": "Groups on the page. Arrow keys move from one to the next.",
});
const heatLayer = make("g", { class: "heat", "aria-hidden": "true" });
const groupLayer = make("g", { class: "groups", role: "presentation" });
const edgeLayer = make("g", { class: "edges", "aria-hidden": "true" });
const markLayer = make("g", { class: "marks", "aria-hidden": "true" });
const ring = make("g", { class: "ring", "aria-hidden": "true" });
sheet.append(heatLayer, groupLayer, edgeLayer, markLayer, ring);

// Groups first, then the patches that were pruned, which have no colour.
export function drawGroups(parts, step) {
  const edges = [];
  const areas = [];
  parts.forEach((group, number) => {
    const area = make("path", {
      class: kindOf(group),
      id: `group-${number}`,
      "data-group": number,
      role: "option",
      "aria-selected": "false",
      "aria-label": describe(group, number, step),
      d: fillPath(group.members),
    });
    areas.push(area);
    if (group.pruned) return;

    const colour = colourOf(colourNumber(step, group, number));
    area.setAttribute("fill", colour);
    edges.push(make("path", { stroke: colour, d: outline(group.members) }));
  });
  edgeLayer.replaceChildren(...edges);
  groupLayer.replaceChildren(...areas);
}

function kindOf(group) {
  if (group.pruned) return "pruned";
  return group.members.length > 1 ? "group several" : "group single";
}

// values from 0 to 1, one for each patch.
export function drawHeat(values) {
  const cells = [];
  values.forEach((value, patch) => {
    if (value <= FAINTEST || isCovering(patch)) return;
    const opacity = (STRONGEST * value).toFixed(2);
    cells.push(make("path", { d: boxPath(patch), "fill-opacity": opacity }));
  });
  heatLayer.replaceChildren(...cells);
}

// A dark line in a light one, which can be seen on any picture.
function casedLine(kind, d) {
  return [make("path", { class: "casing", d }), make("path", { class: kind, d })];
}

// The best patch before compression, solid, and the patches of the best group after it, dashed; null for none.
export function drawMarks(patch, group) {
  const paths = [];
  if (group !== null) paths.push(...casedLine("after", outline(group, ROOM)));
  if (patch !== null) paths.push(...casedLine("before", boxPath(patch)));
  markLayer.replaceChildren(...paths);
}

// Select one of the parts of the page, or none: null.
export function selectPart(number, parts) {
  for (const selected of groupLayer.querySelectorAll("[aria-selected=true]")) {
    selected.setAttribute("aria-selected", "false");
  }
  if (number === null) {
    ring.replaceChildren();
    sheet.removeAttribute("aria-activedescendant");
    return;
  }
  ring.replaceChildren(...casedLine("line", outline(parts[number].members, ROOM)));
  byId(`group-${number}`).setAttribute("aria-selected", "true");
  sheet.setAttribute("aria-activedescendant", `group-${number}`);
}
