// Settings -> what is stored of the page.

import { cliff, gapAt, groupsAfter, runnerUp, thetaAt, toFloor } from "./cut.js";
import { data, steps } from "./page_data.js";

// The settings of the method that was asked for. `made` is null unless a reader moved the cut.
export const OWN_SETTINGS = { step: data.own, floor: data.floors.own, made: null };

const RULES = { cliff, floor: toFloor };

function cutOfMethod(step, floor) {
  const rule = RULES[data.rule];
  return rule ? rule(step.sequence, floor) : step.made;
}

export function bytesOf(vectors) {
  return data.vector_bytes * (vectors + data.extra);
}

// In float16, as an encoder gives the page.
export function bytesBefore() {
  return 2 * data.dimensions * (data.patches + data.extra);
}

// step and floor are places in the lists of choices, made is a number of merges.
export function resultOf(settings) {
  const step = steps[settings.step];
  const floor = data.floors.values[settings.floor] ?? null;
  const madeByMethod = cutOfMethod(step, floor);
  const made = settings.made ?? madeByMethod;
  const { groups, list } = groupsAfter(step, made, data.patches);
  return {
    step,
    floor,
    made,
    madeByMethod,
    groups,
    list,
    bytes: bytesOf(list.length),
    theta: thetaAt(step.sequence, made),
    gap: gapAt(step.sequence, made),
    compression: 1 - list.length / data.patches,
  };
}

// The gap to show beside the cut: of a cut by hand the method's own, of the method's own the runner-up.
export function secondGap({ step, floor, made, madeByMethod }) {
  if (made !== madeByMethod) {
    const own = { made: madeByMethod, word: "method", key: "gap of the method's own cut" };
    return madeByMethod ? own : null;
  }
  if (data.rule !== "cliff") return null;
  const next = runnerUp(step.sequence, floor, made);
  return next ? { made: next, word: "runner-up", key: "runner-up gap" } : null;
}

// All that a reader can point at: every group, and then every patch that was pruned.
export function groupsAndPruned({ groups, list }) {
  const parts = [...list];
  groups.forEach((group, patch) => {
    if (group < 0) parts.push({ members: [patch], pruned: true });
  });
  return parts;
}

// NaN where there is no tree to know it from.
export function meanCosine(step, group) {
  if (group.members.length === 1) return 1;
  if (!step.meanCosines.length) return NaN;
  return step.meanCosines[group.node - step.kept.length];
}

// The number of a group's colour. With a tree every node has a colour, without one every group.
export function colourNumber(step, group, number) {
  const hasTree = !step.groups.length;
  return step.colours[hasTree ? group.node : number];
}
