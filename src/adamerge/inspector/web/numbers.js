// What is stored of the page, in numbers, and how that differs from the method that was asked for.

import { byId } from "../../html_file/web/elements.js";
import { fixed, percent, plural, signed, whole } from "../../html_file/web/format.js";
import { data } from "./page_data.js";
import { bytesBefore, OWN_SETTINGS, resultOf } from "./result.js";

const own = resultOf(OWN_SETTINGS);

// Floor is the place of c_min in its list; byHand tells whether a reader moved the cut.
export function showNumbers(result, floor, byHand) {
  const extra = data.extra ? ` and ${whole(data.extra)} extra` : "";
  const changed = describeChange(result, byHand);
  const texts = {
    count: whole(result.list.length),
    "count-of": `of ${whole(data.patches)}${extra}`,
    compression: percent(result.compression),
    bytes: whole(result.bytes),
    "bytes-of": `of ${whole(bytesBefore())}`,
    theta: fixed(result.theta),
    gap: fixed(result.gap),
    method: methodName(result, floor),
    changed,
    live: `${summary(result)}. ${changed}`, // for screen readers
  };
  for (const [id, text] of Object.entries(texts)) byId(id).textContent = text;
}

function summary({ list, compression, bytes, theta, gap }) {
  const parts = [
    `${plural(list.length, "vector")} kept`,
    `${percent(compression)} compression`,
    `${whole(bytes)} bytes`,
    `theta ${fixed(theta)}`,
    `gap ${fixed(gap)}`,
  ];
  return parts.join(", ");
}

// The name of the method that gives this result.
function methodName({ step, made, madeByMethod }, floor) {
  if (made !== madeByMethod) return "no method";
  const { texts, own: ownFloor } = data.floors;
  if (!texts.length) return step.name;
  return step.name.replace(`c_min=${texts[ownFloor]}`, `c_min=${texts[floor]}`);
}

function describeChange(result, byHand) {
  const hand = byHand ? `Cut by hand after ${plural(result.made, "merge")}. ` : "";
  if (result.step === own.step && result.made === own.made) {
    return `${hand}What the method itself makes of the page.`;
  }
  const vectors = signed(result.list.length - own.list.length, whole);
  const bytes = signed(result.bytes - own.bytes, whole);
  const survivors = result.step.kept.length - own.step.kept.length;
  const pruned = survivors ? `, ${signed(survivors, whole)} survivors` : "";
  return `${hand}Against the method: ${vectors} vectors, ${bytes} bytes${pruned}.`;
}
