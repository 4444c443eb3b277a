// The chart library: loaded after the text is on the screen, and dressed in the page's colours.

import { mark } from "./measures.js";

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
