// The merge-cosine curve with its cut, and a handle that moves along it.

const plot = make("svg", { class: "plot" });
const frame = { left: 40, right: 14, top: 14, bottom: 30, height: 250, width: 480 };
const handle = make("g", {
  class: "handle",
  tabindex: "0",
  role: "slider",
  "aria-label": "Cut: merges made",
  "aria-valuemin": "0",
});
const drawing = make("g", { "aria-hidden": "true" });
plot.append(drawing, handle);

function scales(step) {
  const lowest = Math.min(0, ...step.raw);
  const low = Math.floor(lowest * 10) / 10;
  const inner = frame.width - frame.left - frame.right;
  const last = Math.max(1, step.sequence.length);
  return {
    low,
    x: (t) => frame.left + (inner * t) / last,
    y: (c) => frame.top + ((1 - c) / (1 - low)) * (frame.height - frame.top - frame.bottom),
    t: (x) => Math.max(0, Math.min(step.sequence.length, Math.round(((x - frame.left) / inner) * last))),
  };
}

function axes(step, { low, x, y }) {
  const parts = [];
  for (let tick = 1; tick >= low - 1e-9; tick -= 0.25) {
    parts.push(
      make("line", { class: "grid", x1: frame.left, x2: frame.width - frame.right, y1: y(tick), y2: y(tick) }),
    );
    parts.push(make("text", { x: frame.left - 7, y: y(tick) + 4, "text-anchor": "end" }, fixed(tick, 2)));
  }
  const last = step.sequence.length;
  for (const t of new Set([0, Math.round(last / 2), last])) {
    parts.push(
      make(
        "text",
        { x: x(t), y: frame.height - 12, "text-anchor": t === last ? "end" : t ? "middle" : "start" },
        whole(t) + (t === last ? " merges" : ""),
      ),
    );
  }
  return parts;
}

// A bar from the similarity before a drop to the one after it.
function gapBar(step, made, [kind, word], { x, y }, right) {
  if (!made || made >= step.sequence.length) return [];
  const [top, bottom] = [y(step.sequence[made - 1]), y(step.sequence[made])];
  const label = `${word} ${fixed(gapAt(step.sequence, made))}`;
  return [
    make("line", { class: `gap ${kind}`, x1: x(made), x2: x(made), y1: top, y2: Math.max(bottom, top + 2) }),
    make(
      "text",
      { class: kind, x: x(made) + (right ? 9 : -9), y: (top + bottom) / 2 + 4, "text-anchor": right ? "start" : "end" },
      label,
    ),
  ];
}

function drawCurve(step, made, floor, second) {
  const scale = scales(step);
  const { x, y } = scale;
  const points = Array.from(step.sequence, (c, t) => `${x(t + 1).toFixed(1)} ${y(c).toFixed(1)}`);
  const dots = Array.from(step.raw, (c, t) => `M${x(t + 1).toFixed(1)} ${y(c).toFixed(1)}h0`).join("");
  const bottom = frame.height - frame.bottom;
  const parts = [
    ...axes(step, scale),
    make("rect", {
      class: "made",
      x: x(0),
      y: frame.top,
      width: Math.max(0, x(made) - x(0)),
      height: bottom - frame.top,
    }),
  ];
  parts.push(
    make("path", { class: "dots", d: dots }),
    make("path", { class: "sequence", d: points.length ? `M${points.join("L")}` : "" }),
  );
  if (floor !== null && y(floor) <= bottom) {
    parts.push(
      make("line", { class: "floor", x1: frame.left, x2: frame.width - frame.right, y1: y(floor), y2: y(floor) }),
    );
    parts.push(make("text", { x: frame.left + 6, y: y(floor) + (floor > 0.9 ? 15 : -6) }, `c_min ${fixed(floor, 2)}`));
  }
  if (second)
    parts.push(
      ...gapBar(
        step,
        second.made,
        ["dull", second.word],
        scale,
        x(second.made) < 150 || (second.made > made && x(second.made) < frame.width - 150),
      ),
    );
  parts.push(...gapBar(step, made, ["warm", "gap"], scale, x(made) < frame.width * 0.6));
  drawHandle(step, made, x(made), bottom);
  drawing.replaceChildren(...parts); // the handle stays where it is, or it would lose the focus
  plot.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
}

function drawHandle(step, made, x, bottom) {
  handle.setAttribute("aria-valuemax", step.sequence.length);
  handle.setAttribute("aria-valuenow", made);
  const text = `${plural(made, "merge")}, ${plural(step.kept.length - made, "vector")}, theta ${fixed(thetaAt(step.sequence, made))}`;
  handle.setAttribute("aria-valuetext", text);
  handle.replaceChildren(
    make("rect", { class: "grip", x: x - 14, y: frame.top, width: 28, height: bottom - frame.top }),
    make("line", { class: "cut", x1: x, x2: x, y1: frame.top, y2: bottom }),
    make("circle", { cx: x, cy: bottom, r: 8 }),
  );
}

const KEYS = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
  Home: -Infinity,
  End: Infinity,
};

// `now()` gives the step and its cut, `move(t)` sets another cut.
function listenToCurve(now, move) {
  const at = (event) => {
    const place = plot.getBoundingClientRect();
    return scales(now().step).t(((event.clientX - place.left) / place.width) * frame.width);
  };
  plot.addEventListener("pointerdown", (event) => {
    plot.setPointerCapture(event.pointerId);
    handle.focus({ preventScroll: true });
    move(at(event));
    event.preventDefault();
  });
  plot.addEventListener("pointermove", (event) => plot.hasPointerCapture(event.pointerId) && move(at(event)));
  handle.addEventListener("keydown", (event) => {
    if (!(event.key in KEYS)) return;
    event.preventDefault();
    move(Math.max(0, Math.min(now().step.sequence.length, now().made + KEYS[event.key])));
  });
}

function curveTable(step) {
  const rows = Array.from(step.sequence, (c, t) => [
    whole(t + 1),
    fixed(step.raw[t]),
    fixed(c),
    fixed(gapAt(step.sequence, t + 1)),
    whole(step.kept.length - t - 1),
  ]);
  fillTable(byId("curve-table"), ["Merge", "Raw cosine", "Sequence", "Drop after", "Groups left"], rows);
}
