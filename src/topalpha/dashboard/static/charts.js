// The charts: their library, which is loaded after the text is on the screen, and the two small ones, what is proved and
// the gap so far. The race has a file of its own.

import { proven } from "./figures.js";
import { element, mark, say } from "./page.js";
import { count, many, number, percent, top } from "./words.js";

let loading = null;

/** The library, once it is there. */
export function plotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = "/assets/plotly.js";
    script.onload = () => {
      mark("charts-loaded");
      resolve(globalThis.Plotly);
    };
    script.onerror = () => {
      loading = null;
      script.remove();
      reject(new Error("the charts could not be loaded"));
    };
    document.head.append(script);
  });
  return loading;
}

/** A colour of the style sheet, as it is in the present scheme. */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const drawn = new WeakMap();

// No logo, and no button that sends anything away or that a chart which redraws itself would undo.
const SETTINGS = { displayModeBar: false, displaylogo: false, responsive: true, scrollZoom: false, showTips: false };

/** The layout that all charts share; text may not widen the page. */
export function layout(key, horizontal, vertical, more = {}) {
  const text = colour("text");
  const axis = { color: text, gridcolor: colour("grid"), zeroline: false, fixedrange: true };
  return {
    uirevision: key,
    autosize: true,
    margin: { l: 62, r: 12, t: 8, b: 46 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: text, family: "system-ui, sans-serif", size: 12 },
    hoverlabel: { bgcolor: colour("card"), bordercolor: colour("edge"), font: { color: text } },
    hovermode: "closest",
    dragmode: false,
    showlegend: false,
    ...more,
    xaxis: { ...axis, ...horizontal, title: { text: horizontal.title, standoff: 8 } },
    yaxis: { ...axis, ...vertical, title: { text: vertical.title, standoff: 8 } },
  };
}

/** Draw, unless all that is drawn from (``key``), the colours and the width are as they were. */
export function draw(library, place, key, traces, form) {
  const now = JSON.stringify([key, colour("card"), place.clientWidth]);
  if (drawn.get(place) !== now) {
    drawn.set(place, now);
    library.react(place, traces, form, SETTINGS);
  }
}

// Claims that are told in words.
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

/** Say in words what the chart shows. */
export function describeHistory(state) {
  const points = state.history;
  element("history-card").hidden = points.length < 2 && state.status !== "running";
  if (points.length < 2) {
    say("history-summary", points.length === 0 ? "No gap is known yet." : "No change so far.");
    return;
  }
  const [first, last] = [points[0], points.at(-1)];
  say("history-summary", `From ${number(first[1])} after ${many(first[0], "evaluation")} to ${number(last[1])} after ` +
    `${count(last[0])}; at 0 the search stops. As the search noted it: “topalpha verify” computes the last of these again.`);
}

/** Draw the gap against the evaluations. */
export function drawHistory(library, state) {
  const points = state.history;
  const place = element("history");
  place.hidden = points.length < 2;
  if (points.length < 2) {
    return;
  }
  draw(library, place, [state.name, points.length, points.at(-1)], [{
    type: "scatter", mode: "lines", name: "gap",
    x: points.map(([pulls]) => pulls),
    y: points.map(([, gap]) => gap),
    line: { color: colour("leader"), width: 3 },
    hovertemplate: "gap %{y:.4g} after %{x:,} evaluations<extra></extra>",
  }], layout(`history ${state.name}`, { title: "evaluations" }, { title: "gap", rangemode: "tozero" }));
}
