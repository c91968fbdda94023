// The page with its patches: attention, kept and pruned, groups, and the heat of a query.

const LAYERS = { groups: "Groups", kept: "Kept", attention: "Attention", query: "Query", none: "Page" };

const sheet = make("svg", {
  viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
  preserveAspectRatio: "none",
  role: "listbox",
  tabindex: "0",
});
sheet.setAttribute("aria-label", "Groups on the page. Arrow keys move from one to the next.");
const [heatLayer, edgeLayer, markLayer, ring] = ["heat", "edges", "marks", "ring"].map((name) =>
  make("g", { class: name, "aria-hidden": "true" }),
);
const groupLayer = make("g", { class: "groups", role: "presentation" });
sheet.append(heatLayer, groupLayer, edgeLayer, markLayer, ring);

function share(members) {
  return totalAttention ? members.reduce((sum, i) => sum + attention[i], 0) / totalAttention : NaN;
}

function alikeOf(step, group) {
  if (group.members.length === 1) return 1;
  return step.alike.length ? step.alike[group.node - step.kept.length] : NaN;
}

const nameOf = (group, number) => (group.pruned ? `Patch ${group.members[0]}` : `Group ${number + 1}`);

function describe(group, number, step) {
  const parts = [group.pruned ? "pruned" : plural(group.members.length, "patch")];
  if (totalAttention) parts.push(`${percent(share(group.members))} of attention`);
  const alike = alikeOf(step, group);
  if (group.members.length > 1 && !Number.isNaN(alike)) parts.push(`mean cosine ${fixed(alike, 2)}`);
  return `${nameOf(group, number)}: ${parts.join(", ")}`;
}

const colourIn = (step, group, number) => colourOf(step.colours[step.groups.length ? number : group.node]);

// Groups first, then what was pruned, which has no colour.
function drawGroups(parts, step) {
  edgeLayer.replaceChildren(
    ...parts
      .filter((group) => !group.pruned)
      .map((group, number) => make("path", { stroke: colourIn(step, group, number), d: outline(group.members) })),
  );
  const kind = (group) => (group.pruned ? "gone" : `group ${group.members.length > 1 ? "several" : "single"}`);
  groupLayer.replaceChildren(
    ...parts.map((group, number) =>
      make("path", {
        class: kind(group),
        id: `group-${number}`,
        "data-group": number,
        role: "option",
        "aria-selected": "false",
        "aria-label": describe(group, number, step),
        ...(group.pruned ? {} : { fill: colourIn(step, group, number) }),
        d: fillPath(group.members),
      }),
    ),
  );
}

// A dark line in a light one, to be seen on any picture.
function cased(kind, d) {
  return [make("path", { class: "casing", d }), make("path", { class: kind, d })];
}

// values in 0 .. 1, one per patch.
function drawHeat(values) {
  const cells = Array.from(values, (value, i) =>
    value > 0.02 && !covering.has(i) ? make("path", { d: boxPath(i), "fill-opacity": (0.8 * value).toFixed(2) }) : "",
  );
  heatLayer.replaceChildren(...cells.filter(Boolean));
}

// The best patch before compression, solid, and the best group after it, dashed.
function drawMarks(before, after) {
  const paths = [];
  if (after) paths.push(...cased("after", outline(after, 0.003)));
  if (before !== null) paths.push(...cased("before", boxPath(before)));
  markLayer.replaceChildren(...paths);
}

function ringAround(number, list) {
  for (const chosen of groupLayer.querySelectorAll("[aria-selected=true]"))
    chosen.setAttribute("aria-selected", "false");
  ring.replaceChildren(...(number === null ? [] : cased("line", outline(list[number].members, 0.003))));
  if (number === null) return sheet.removeAttribute("aria-activedescendant");
  byId(`group-${number}`).setAttribute("aria-selected", "true");
  sheet.setAttribute("aria-activedescendant", `group-${number}`);
}

function showGroup(number, list, step) {
  if (number === null) {
    byId("group").replaceChildren(
      make("p", { class: "hint" }, "Point at a group on the page, or focus the page and use the arrow keys."),
    );
    return;
  }
  const group = list[number];
  const facts = group.pruned ? [] : [["Patches", whole(group.members.length)]];
  if (totalAttention) facts.push(["Attention", percent(share(group.members))]);
  if (!group.pruned) facts.push(["Mean cosine", fixed(alikeOf(step, group), 3)]);
  const swatch = make("i", { class: "swatch" });
  swatch.style.background = group.pruned ? "var(--line)" : colourIn(step, group, number);
  const of = group.pruned ? " was pruned" : ` of ${whole(list.filter((other) => !other.pruned).length)}`;
  const words = wordsOf(group.members);
  byId("group").replaceChildren(
    make("p", { class: "which" }, swatch, make("b", {}, nameOf(group, number)), of),
    make(
      "dl",
      { class: "facts" },
      ...facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
    ),
    ...(words.length ? [make("p", { class: "words" }, clipped(words, 40, " · "))] : []),
    ...(group.pruned
      ? []
      : [make("p", { class: "members" }, `Members: patch ${clipped(group.members.map(String), 60, ", ")}`)]),
  );
}

function clipped(items, most, between) {
  return (
    items.slice(0, most).join(between) + (items.length > most ? `${between}and ${whole(items.length - most)} more` : "")
  );
}
