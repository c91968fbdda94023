// The state of the page, and what happens when somebody changes it.

const own = { step: data.own, floor: data.floors.own, made: null };
const view = { ...own, layer: "groups", group: null, query: 0, token: null };
let shown = null;

// What the settings give: the cut of the method, unless somebody moved the handle.
function result({ step: at, floor: j, made: chosen }) {
  const step = steps[at];
  const floor = data.floors.values.length ? data.floors.values[j] : null;
  const rules = { cliff: () => cliff(step.sequence, floor), floor: () => toFloor(step.sequence, floor) };
  const natural = (rules[data.rule] || (() => step.made))();
  const made = chosen ?? natural;
  const { groups, list } = groupsAfter(step, made, data.patches);
  const bytes = 2 * data.dimensions * (list.length + data.extra);
  const theta = thetaAt(step.sequence, made);
  return {
    step,
    floor,
    made,
    natural,
    groups,
    list,
    bytes,
    theta,
    gap: gapAt(step.sequence, made),
    compression: 1 - list.length / data.patches,
  };
}

// What a reader can point at: every group, and then every patch that was pruned.
const withPruned = (list, groups) => [
  ...list,
  ...Array.from(groups.keys())
    .filter((i) => groups[i] < 0)
    .map((i) => ({ members: [i], pruned: true })),
];

const first = result(own);

function update(change) {
  const old = shown;
  Object.assign(view, change);
  shown = { ...result(view), parts: old?.parts };
  const moved = !old || old.step !== shown.step || old.made !== shown.made || old.floor !== shown.floor;
  if (moved) {
    view.group = null;
    shown.parts = withPruned(shown.list, shown.groups);
    drawGroups(shown.parts, shown.step);
    drawNumbers();
    drawSettings();
    redrawCurve();
    if (byId("groups-details").open) groupsTable();
    if (byId("curve-details").open && (!old || old.step !== shown.step)) curveTable(shown.step);
  }
  ringAround(view.group, shown.parts);
  showGroup(view.group, shown.parts, shown.step);
  if (moved || "query" in change || "token" in change) drawQuery();
  if (moved || "layer" in change || "query" in change || "token" in change) drawLayer();
}

function drawNumbers() {
  byId("count").textContent = whole(shown.list.length);
  byId("count-of").textContent = `of ${whole(data.patches)}${data.extra ? ` and ${whole(data.extra)} extra` : ""}`;
  byId("compression").textContent = percent(shown.compression);
  byId("bytes").textContent = whole(shown.bytes);
  byId("bytes-of").textContent = `of ${whole(2 * data.dimensions * (data.patches + data.extra))}`;
  byId("theta").textContent = fixed(shown.theta);
  byId("gap").textContent = fixed(shown.gap);
  byId("method").textContent = methodName();
  byId("changed").textContent = whatChanged();
  const cut = `theta ${fixed(shown.theta)}, gap ${fixed(shown.gap)}`;
  byId("live").textContent =
    `${plural(shown.list.length, "vector")} kept, ${percent(shown.compression)} compression, ${whole(shown.bytes)} bytes, ${cut}. ${whatChanged()}`;
}

function methodName() {
  if (shown.made !== shown.natural) return "no method";
  const { texts, own: at } = data.floors;
  return texts.length ? shown.step.name.replace(`c_min=${texts[at]}`, `c_min=${texts[view.floor]}`) : shown.step.name;
}

function whatChanged() {
  const hand = view.made === null ? "" : `Cut by hand after ${plural(shown.made, "merge")}. `;
  const count = shown.list.length - first.list.length;
  const kept = shown.step.kept.length - first.step.kept.length;
  if (shown.step === first.step && shown.made === first.made) return `${hand}What the method itself makes of the page.`;
  const pruned = kept ? `, ${signed(kept, whole)} survivors` : "";
  return `${hand}Against the method: ${signed(count, whole)} vectors, ${signed(shown.bytes - first.bytes, whole)} bytes${pruned}.`;
}

function drawSettings() {
  const set = (id, value, text) => {
    byId(id).value = value;
    byId(id).setAttribute("aria-valuetext", text);
    byId(`${id}-value`).textContent = text;
  };
  set("k", view.step, shown.step.k);
  if (shown.floor !== null) set("floor", view.floor, data.floors.texts[view.floor]);
  byId("reset").disabled = view.step === own.step && view.floor === own.floor && view.made === null;
}

function redrawCurve() {
  const none = data.why.curve || (shown.step.sequence.length ? "" : data.few);
  byId("curve-box").hidden = Boolean(none);
  byId("curve-why").textContent = none;
  if (none) return;
  const second = secondGap(shown);
  byId("second-key").hidden = !second;
  byId("second-word").textContent = second ? second.key : "";
  drawCurve(shown.step, shown.made, shown.floor, second);
}

// Beside the cut of the method its runner-up, beside a cut by hand that of the method.
function secondGap({ step, floor, made, natural }) {
  if (made !== natural) return natural ? { made: natural, word: "method", key: "gap of the method's own cut" } : null;
  const next = data.rule === "cliff" ? runnerUp(step.sequence, floor, made) : 0;
  return next ? { made: next, word: "runner-up", key: "runner-up gap" } : null;
}

function drawQuery() {
  if (!queries.length) return;
  const found = answer(queries[view.query], shown.list, shown.step);
  drawAnswer(found, shown.list, view.token, (token) => update({ token, layer: "query" }));
  const row = view.token === null ? null : found.rows[view.token];
  drawMarks(row ? row.before.at : null, row && row.after.at !== null ? shown.list[row.after.at].members : null);
}

function drawLayer() {
  sheet.setAttribute("data-layer", view.layer);
  byId(`layer-${view.layer}`).checked = true;
  const gone = data.patches - shown.step.kept.length;
  const legends = {
    groups: `Each colour is a group: one stored vector. Patches without colour were pruned (${whole(gone)}).`,
    kept: `${plural(shown.step.kept.length, "patch")} kept; ${whole(gone)} pruned, faded here.`,
    attention: "The darker, the more attention; full where pruning clips it.",
    query:
      view.token === null
        ? "How alike each patch is to the query: its best token."
        : "How alike each patch is to the token; solid: best patch before, dashed: best group after.",
    none: "The page as it is.",
  };
  byId("legend").textContent = legends[view.layer];
  if (view.layer === "attention") drawHeat(attention.map((value) => Math.min(1, value / (data.heat || 1))));
  if (view.layer === "query") drawHeat(queryHeat(queries[view.query], view.token));
}

function groupsTable() {
  const rows = shown.parts.map((group, number) => [
    group.pruned ? "pruned" : `${number + 1}`,
    whole(group.members.length),
    totalAttention ? percent(share(group.members)) : "–",
    fixed(alikeOf(shown.step, group)),
    clipped(data.words.length ? wordsOf(group.members) : group.members.map(String), 12, " "),
  ]);
  fillTable(
    byId("groups-table"),
    ["Group", "Patches", "Attention", "Mean cosine", data.words.length ? "Words" : "Members"],
    rows,
  );
}

function makeLayers() {
  const there = { attention: !data.why.attention, query: queries.length };
  for (const [name, text] of Object.entries(LAYERS)) {
    if (!(there[name] ?? true)) continue;
    const radio = make("input", { type: "radio", name: "layer", id: `layer-${name}`, value: name });
    radio.addEventListener("change", () => update({ layer: name }));
    byId("layers").append(radio, make("label", { for: `layer-${name}` }, text));
  }
}

function moveFocus(event) {
  const jumps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  if (event.key === "Escape") return update({ group: null });
  if (!(event.key in jumps)) return;
  event.preventDefault();
  const next = view.group === null ? 0 : view.group + jumps[event.key];
  update({ group: Math.max(0, Math.min(shown.parts.length - 1, next)) });
}

function listen() {
  byId("k").addEventListener("input", (event) => update({ step: Number(event.target.value), made: null }));
  byId("floor").addEventListener("input", (event) => update({ floor: Number(event.target.value), made: null }));
  byId("reset").addEventListener("click", () => update({ ...own }));
  byId("query").addEventListener("change", (event) =>
    update({ query: Number(event.target.value), token: null, layer: "query" }),
  );
  byId("groups-details").addEventListener("toggle", groupsTable);
  byId("curve-details").addEventListener("toggle", () => curveTable(shown.step));
  sheet.addEventListener("keydown", moveFocus);
  sheet.addEventListener("focus", () => view.group === null && sheet.matches(":focus-visible") && update({ group: 0 }));
  sheet.addEventListener("pointerover", (event) => {
    const at = event.target.closest("[data-group]");
    if (at) update({ group: Number(at.dataset.group) });
  });
  listenToCurve(
    () => shown,
    (made) => update({ made }),
  );
}

function start() {
  makeLayers();
  byId("figure").style.aspectRatio = `${data.width} / ${data.height}`;
  byId("figure").style.setProperty("--shape", data.width / data.height);
  byId("patches").append(sheet);
  byId("k").max = steps.length - 1;
  byId("floor").max = Math.max(0, data.floors.values.length - 1);
  data.queries.forEach((query, i) => byId("query").append(make("option", { value: i }, query.text)));
  const { curve: noCurve, floor: noFloor, k: noK, queries: noQueries, picture, attention: noAttention } = data.why;
  if (noK) explain("settings-why", ["k-box"], [noK]);
  if (noFloor) explain("settings-why", ["floor-box"], [noFloor]);
  if (noQueries) explain("queries-why", queries.length ? [] : ["queries-box"], [noQueries]);
  explain("sheet-why", [], [picture, noAttention].filter(Boolean));
  byId("reset").hidden = Boolean(noK && noFloor && noCurve);
  byId("curve").append(plot);
  listen();
  update({ layer: "groups" });
  new ResizeObserver(([entry]) => {
    frame.width = Math.max(260, Math.round(entry.contentRect.width));
    redrawCurve();
  }).observe(byId("curve"));
}

// For tests, and for whoever wants to ask from the console.
window.adamerge = {
  settings: () => ({ k: steps.map((step) => step.k), c_min: data.floors.values, own }),
  result: (step, floor, made = null) => {
    const found = result({ step, floor, made });
    const { groups, list, bytes, theta, gap, compression, made: merges } = found;
    const second = secondGap(found)?.made ?? 0;
    return { groups: Array.from(groups), count: list.length, merges, bytes, theta, gap, compression, second };
  },
  answer: (query, step, floor, made = null) => {
    const { list, step: at } = result({ step, floor, made });
    return answer(queries[query], list, at);
  },
  colours: (step, floor, made = null) => {
    const { list, step: at } = result({ step, floor, made });
    return list.map((group, number) => at.colours[at.groups.length ? number : group.node]);
  },
};

start();
