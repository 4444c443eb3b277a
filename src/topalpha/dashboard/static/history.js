// The gap since the page was opened: kept in the page, for the file holds the present alone.

import { colour, draw, layout } from "./charts.js";
import { element, say } from "./page.js";
import { duration, number } from "./words.js";

const KEPT = 600;

const histories = new Map();

/** Note the gap of this moment; when there are too many, every second one of the older half goes. */
export function remember(state) {
  const points = histories.get(state.name) ?? [];
  histories.set(state.name, points);
  const gap = state.status === "stopped" ? 0 : state.certificate ? null : state.gap;
  const last = points.at(-1);
  if (gap === null || gap === undefined || (last && last.pulls === state.pulls && last.gap === gap)) {
    return;
  }
  points.push({ at: Date.now(), pulls: state.pulls, gap: Math.max(gap, 0) });
  if (points.length > KEPT) {
    histories.set(state.name, points.filter((_, index) => index >= KEPT / 2 || index % 2 === 0));
  }
}

/** Say in words what the chart shows. */
export function describeHistory(state) {
  const points = histories.get(state.name) ?? [];
  element("history-card").hidden = points.length < 2 && state.status !== "running";
  if (points.length < 2) {
    say("history-summary", points.length === 0 ? "No gap is known yet." : "No change so far.");
    return;
  }
  const [first, last] = [points[0], points.at(-1)];
  say("history-summary", `From ${number(first.gap)} to ${number(last.gap)} in ` +
    `${duration((last.at - first.at) / 1000)}; at 0 the search stops.`);
}

/** Draw the gap against the evaluations. */
export function drawHistory(library, state) {
  const points = histories.get(state.name) ?? [];
  const place = element("history");
  place.hidden = points.length < 2;
  if (points.length < 2) {
    return;
  }
  draw(library, place, [state.name, points.length, points.at(-1)], [{
    type: "scatter", mode: "lines", name: "gap",
    x: points.map((point) => point.pulls),
    y: points.map((point) => point.gap),
    line: { color: colour("leader"), width: 3 },
    hovertemplate: "gap %{y:.4g} after %{x:,} evaluations<extra></extra>",
  }], layout(`history ${state.name}`, { title: "evaluations" }, { title: "gap", rangemode: "tozero" }));
}
