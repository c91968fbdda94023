// The state of the page, and what happens when a reader changes it.

import "../../html_file/web/theme/theme.js";
import { drawCurve, fillCurveTable, listenToCurve, plot, setWidth } from "./curve.js";
import { byId, explain, make } from "../../html_file/web/elements.js";
import { plural, whole } from "../../html_file/web/format.js";
import { fillGroupsTable, showGroup } from "./group.js";
import { showNumbers } from "./numbers.js";
import { attention, data, queries, steps } from "./page_data.js";
import { queryHeat, scoreQuery } from "./query_scores.js";
import { showScores } from "./query_table.js";
import { colourNumber, groupsAndPruned, OWN_SETTINGS, resultOf, secondGap } from "./result.js";
import { drawGroups, drawHeat, drawMarks, LAYERS, selectPart, sheet } from "./sheet.js";

// What the reader chose: settings of the method, a layer, a group to look at, a query, a token of it.
const view = { ...OWN_SETTINGS, layer: "groups", group: null, query: 0, token: null };

// What that gives: the result, and `parts`, the groups and pruned patches of it.
let shown = null;

function update(change) {
  Object.assign(view, change);
  const old = shown;
  const result = resultOf(view);
  const moved =
    !old || old.step !== result.step || old.made !== result.made || old.floor !== result.floor;
  const asked = "query" in change || "token" in change;

  if (moved) {
    view.group = null;
    shown = { ...result, parts: groupsAndPruned(result) };
    showResult();
    if (old?.step !== shown.step) refreshCurveTable();
  }
  selectPart(view.group, shown.parts);
  showGroup(view.group, shown.parts, shown.step);
  if (moved || asked) showQuery();
  if (moved || asked || "layer" in change) showLayer();
}

function showResult() {
  drawGroups(shown.parts, shown.step);
  showNumbers(shown, view.floor, view.made !== null);
  showSettings();
  showCurve();
  refreshGroupsTable();
}

function refreshGroupsTable() {
  if (byId("groups-details").open) fillGroupsTable(shown.parts, shown.step);
}

function refreshCurveTable() {
  if (byId("curve-details").open) fillCurveTable(shown.step);
}

function showSettings() {
  setSlider("k", view.step, shown.step.k);
  if (shown.floor !== null) setSlider("floor", view.floor, data.floors.texts[view.floor]);
  const isOwn = Object.entries(OWN_SETTINGS).every(([name, value]) => view[name] === value);
  byId("reset").disabled = isOwn;
}

function setSlider(id, value, text) {
  byId(id).value = value;
  byId(id).setAttribute("aria-valuetext", text);
  byId(`${id}-value`).textContent = text;
}

function reasonForNoCurve() {
  if (data.missing.curve) return data.missing.curve;
  return shown.step.sequence.length ? "" : data.too_few;
}

function showCurve() {
  const reason = reasonForNoCurve();
  byId("curve-box").hidden = reason !== "";
  byId("curve-why").textContent = reason;
  if (reason) return;

  const second = secondGap(shown);
  byId("second-key").hidden = second === null;
  byId("second-word").textContent = second ? second.key : "";
  drawCurve(shown, second);
}

function showQuery() {
  if (!queries.length) return;
  const scores = scoreQuery(queries[view.query], shown.list, shown.step);
  const choose = (token) => update({ token, layer: "query" });
  showScores(scores, shown.list, view.token, choose);

  if (view.token === null) {
    drawMarks(null, null);
    return;
  }
  const { before, after } = scores.rows[view.token];
  drawMarks(before.at, after.at === null ? null : shown.list[after.at].members);
}

function showLayer() {
  sheet.setAttribute("data-layer", view.layer);
  byId(`layer-${view.layer}`).checked = true;
  byId("legend").textContent = legendOf(view.layer);
  if (view.layer === "attention") drawHeat(attentionHeat());
  if (view.layer === "query") drawHeat(queryHeat(queries[view.query], view.token));
}

function attentionHeat() {
  return attention.map((value) => Math.min(1, value / (data.darkest || 1)));
}

function legendOf(layer) {
  const kept = shown.step.kept.length;
  const pruned = whole(data.patches - kept);
  const legends = {
    groups: `Each colour is a group: one stored vector. Patches without colour were pruned (${pruned}).`,
    kept: `${plural(kept, "patch")} kept; ${pruned} pruned, faded here.`,
    attention: "The darker, the more attention; full where pruning clips it.",
    query: "How alike each patch is to the query: its best token.",
    token:
      "How alike each patch is to the token; solid: best patch before, dashed: best group after.",
    none: "The page as it is.",
  };
  const ofToken = layer === "query" && view.token !== null;
  return legends[ofToken ? "token" : layer];
}

function makeLayers() {
  const isMissing = { attention: data.missing.attention, query: !queries.length };
  for (const [name, text] of Object.entries(LAYERS)) {
    if (isMissing[name]) continue;
    const id = `layer-${name}`;
    const radio = make("input", { type: "radio", name: "layer", id, value: name });
    radio.addEventListener("change", () => update({ layer: name }));
    byId("layers").append(radio, make("label", { for: id }, text));
  }
}

const STEPS_OF_KEY = {
  ArrowRight: 1,
  ArrowDown: 1,
  ArrowLeft: -1,
  ArrowUp: -1,
  Home: -Infinity,
  End: Infinity,
};

function moveFocus(event) {
  if (event.key === "Escape") {
    update({ group: null });
    return;
  }
  if (!(event.key in STEPS_OF_KEY)) return;
  event.preventDefault();
  const last = shown.parts.length - 1;
  const next = view.group === null ? 0 : view.group + STEPS_OF_KEY[event.key];
  update({ group: Math.max(0, Math.min(last, next)) });
}

// Nothing is selected until the keyboard comes to the page.
function focusFirst() {
  const byKeyboard = sheet.matches(":focus-visible");
  if (view.group === null && byKeyboard) update({ group: 0 });
}

function pointAt(event) {
  const part = event.target.closest("[data-group]");
  if (part) update({ group: Number(part.dataset.group) });
}

function listen() {
  byId("k").addEventListener("input", (event) => {
    update({ step: Number(event.target.value), made: null });
  });
  byId("floor").addEventListener("input", (event) => {
    update({ floor: Number(event.target.value), made: null });
  });
  byId("reset").addEventListener("click", () => update({ ...OWN_SETTINGS }));
  byId("query").addEventListener("change", (event) => {
    update({ query: Number(event.target.value), token: null, layer: "query" });
  });
  byId("groups-details").addEventListener("toggle", refreshGroupsTable);
  byId("curve-details").addEventListener("toggle", refreshCurveTable);
  sheet.addEventListener("keydown", moveFocus);
  sheet.addEventListener("focus", focusFirst);
  sheet.addEventListener("pointerover", pointAt);
  listenToCurve(
    () => shown,
    (made) => update({ made }),
  );
}

function explainMissing() {
  const { curve, floor, k, queries: noQueries, picture, attention: noAttention } = data.missing;
  byId("k-box").hidden = Boolean(k);
  byId("floor-box").hidden = Boolean(floor);
  byId("queries-box").hidden = !queries.length;
  byId("reset").hidden = Boolean(k && floor && curve);
  if (k) explain("settings-why", k);
  if (floor) explain("settings-why", floor);
  if (noQueries) explain("queries-why", noQueries);
  if (picture) explain("sheet-why", picture);
  if (noAttention) explain("sheet-why", noAttention);
}

function start() {
  byId("figure").style.aspectRatio = `${data.width} / ${data.height}`;
  byId("figure").style.setProperty("--shape", data.width / data.height);
  byId("patches").append(sheet);
  byId("curve").append(plot);
  byId("k").max = steps.length - 1;
  byId("floor").max = Math.max(0, data.floors.values.length - 1);
  queries.forEach((query, i) => byId("query").append(make("option", { value: i }, query.text)));

  makeLayers();
  explainMissing();
  listen();
  update({ layer: "groups" });
  new ResizeObserver(([entry]) => {
    setWidth(entry.contentRect.width);
    showCurve();
  }).observe(byId("curve"));
}

// For tests, and for whoever wants to ask from the console. Step and floor are places in the lists of settings().
window.adamerge = {
  settings: () => ({
    k: steps.map((step) => step.k),
    c_min: data.floors.values,
    own: OWN_SETTINGS,
  }),
  result: (step, floor, made = null) => {
    const result = resultOf({ step, floor, made });
    return {
      groups: Array.from(result.groups),
      count: result.list.length,
      merges: result.made,
      bytes: result.bytes,
      theta: result.theta,
      gap: result.gap,
      compression: result.compression,
      second: secondGap(result)?.made ?? 0,
    };
  },
  answer: (query, step, floor, made = null) => {
    const result = resultOf({ step, floor, made });
    return scoreQuery(queries[query], result.list, result.step);
  },
  colours: (step, floor, made = null) => {
    const result = resultOf({ step, floor, made });
    return result.list.map((group, number) => colourNumber(result.step, group, number));
  },
};

start();
