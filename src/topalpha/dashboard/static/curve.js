// The certified curve: for every alpha, the epsilon that is proved so far.

import { colour, draw, layout } from "./charts.js";
import { proven } from "./figures.js";
import { element, say } from "./page.js";
import { number, percent, top } from "./words.js";

const TOLD = 3;

/** What is proved: of a search that has ended its certificate says it. */
function claims(state) {
  const proved = state.certificate ? state.certificate.claims : state.claims;
  return (proved ?? []).map((claim) => (Array.isArray(claim) ? claim : [claim.alpha, claim.epsilon]));
}

/** Say in words what the curve shows. */
export function describeCurve(state) {
  const proved = claims(state);
  if (proved.length === 0) {
    say("curve-summary", state.status === "running" ? "Nothing is proved yet." : "Nothing is proved.");
    return;
  }
  const parts = proved.slice(0, TOLD).map(([alpha, epsilon]) => `within ${number(epsilon)} of the ` +
    top(alpha, state.minimise));
  const more = proved.length > TOLD ? ", and so on along the curve" : "";
  const subject = state.certificate ? `Arm ${state.certificate.arm}` : proven(state);
  say("curve-summary", `With probability at least ${percent(1 - state.delta)}, all at once: ${subject} is ` +
    `${parts.join(", ")}${more}. The star is what is wanted; down and left is stronger.`);
}

/** Draw the curve. */
export function drawCurve(library, state) {
  const proved = claims(state);
  const place = element("curve");
  place.hidden = proved.length === 0;
  if (proved.length === 0) {
    return;
  }
  // What is proved about the top 5% holds for the top 6% as well: steps, and the last one goes on to everything.
  const x = [...proved.map(([alpha]) => 100 * alpha), 100];
  const y = [...proved.map(([, epsilon]) => epsilon), proved.at(-1)[1]];
  draw(library, place, [state.name, proved], [
    {
      type: "scatter", mode: "lines", name: "proved", x, y,
      line: { shape: "hv", color: colour("leader"), width: 3 },
      hovertemplate: "within %{y:.4g} of the top %{x:.3g}%<extra></extra>",
    },
    {
      type: "scatter", mode: "markers", name: "wanted", x: [100 * state.alpha], y: [state.epsilon],
      marker: { symbol: "star", size: 14, color: colour("rival"), line: { color: colour("card"), width: 1 } },
      hovertemplate: "wanted: within %{y:.4g} of the top %{x:.3g}%<extra></extra>",
    },
  ], layout(
    `curve ${state.name}`,
    { title: "top share of the pool, in %", type: "log", range: [Math.log10(80 * state.alpha), 2.02],
      tickvals: [0.01, 0.1, 1, 2, 5, 10, 20, 50, 100] },
    { title: "epsilon proved", rangemode: "tozero" },
  ));
}
