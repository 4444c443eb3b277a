// The race: the leader's interval, how far the others may still reach, the best mean first, and the line between them.

import { colour, draw, layout } from "./charts.js";
import { element, say } from "./page.js";
import { count, many, number } from "./words.js";

// Places in a row of an arm; the last says whether it contests the leader, which the server knows.
const [ARM, PULLS, MEAN, LOWER, UPPER, , CONTESTS] = [0, 1, 2, 3, 4, 5, 6];

// Beside the leader so many arms are drawn unless all are asked for, those that reach farthest; and so many get a marker
// of their own: markers cost most.
const FEW = 50;
const MARKED = 120;

let wantsAll = false;

/** The arms with a mean, best first; of equals the one that was evaluated more often, then the older one. */
export function ranked(state) {
  const sign = state.minimise ? 1 : -1;
  const seen = state.rows.filter((row) => row && row[MEAN] !== null);
  return seen.sort((a, b) => sign * (a[MEAN] - b[MEAN]) || b[PULLS] - a[PULLS] || a[ARM] - b[ARM]);
}

/** Whether the algorithm has bounds that can be compared. */
function isBounded(state) {
  return state.bounded !== false;
}

function leaderOf(state, order) {
  return order.find((row) => row[ARM] === state.leader) ?? null;
}

/** The line in words, and how many are over it. */
function aboutLine(state) {
  const { over, selection } = state;
  const [own, end, side] = state.minimise ? ["upper", "lower bound", "below"] : ["lower", "upper bound", "above"];
  if (state.line === null) {
    return ` The leader has no finite ${own} bound yet, so that every other arm may still beat it.`;
  }
  const who = over > 1 ? `the ${end}s of ${count(over)} other arms are ${side} it` :
    `${over === 1 ? "1 other" : "no other"} arm's ${end} is ${side} it`;
  const whose = selection.length > 1 ? `the ${state.minimise ? "highest" : "lowest"} of their ${own} bounds` : `its ${own} bound`;
  const line = ` The dashed line is ${whose} ${state.minimise ? "minus" : "plus"} epsilon, ` +
    `${number(state.line)}: ${who}.`;
  if (!state.joint) {
    return line;
  }
  if (state.status === "stopped") {
    return over === 0 ? line : `${line} This algorithm weighed all arms together, and so proved what was wanted before ` +
      "every bar had left the line.";
  }
  if (state.status !== "running") {
    return line;
  }
  return `${line} This algorithm weighs all arms together${weighed(state)}`;
}

/** What the evidence of all arms leaves open, where the file says so: those of earlier versions do not. */
function weighed(state) {
  if (typeof state.evidence !== "number") {
    return ", so it may stop before every bar has left the line. This file does not say how near that is.";
  }
  const open = typeof state.rest === "number" ? `: together they leave at best ${number(state.rest)} to the others, the dotted line. It ` :
    ", which leaves everything open still. It ";
  return `${open}stops when that meets the dashed line; ${Math.floor(100 * state.evidence)}% of the needed evidence is there.`;
}

/** Whether there is a level that all evidence together leaves open, beside the bars of single arms. */
function isWeighed(state) {
  return state.joint && state.line !== null && typeof state.rest === "number";
}

/** Say what the marks mean, as far as they are there. */
function legend(state) {
  const stopped = state.status === "stopped";
  say("legend-leader", state.certificate ? "the arm that the certificate names" : "the leader");
  say("legend-other", isBounded(state) && !stopped ? "may not" : "the others");
  element("legend-rival").hidden = !isBounded(state) || stopped;
  element("legend-line").hidden = !isBounded(state) || state.line === null;
  element("legend-rest").hidden = !isWeighed(state);
}

/** Those that are chosen beside the leader, where several are looked for. */
function several(state) {
  const others = state.selection.filter((arm) => arm !== state.leader);
  return others.length === 0 ? "" : ` Chosen with it: ${others.map((arm) => `arm ${arm}`).join(", ")}.`;
}

/** Say in words what the chart shows. */
export function describe(state, order) {
  const leader = leaderOf(state, order);
  legend(state);
  if (leader === null) {
    say("race-summary", "No arm has been evaluated yet.");
    return;
  }
  const better = state.minimise ? "smallest" : "largest";
  const among = `the ${better} average first, of ${many(order.length, "evaluated arm")}`;
  const what = isBounded(state)
    ? `Each bar runs from one arm's average to its ${state.minimise ? "lower" : "upper"} bound, the leader's between both, ${among}.`
    : `Each mark is the average of one arm, ${among}. This algorithm has no bounds for single arms: which of them may still ` +
      "beat another cannot be told.";
  const verb = state.certificate ? "is named by the certificate, with" : "leads with";
  say("race-summary", `${what} Arm ${state.leader} ${verb} an average of ${number(leader[MEAN])}.` +
    several(state) + (isBounded(state) ? aboutLine(state) : ""));
}

/** Which arms are drawn. */
function shown(state, order) {
  const button = element("race-all");
  button.hidden = order.length <= FEW;
  button.setAttribute("aria-pressed", String(wantsAll));
  if (order.length <= FEW || wantsAll) {
    say("race-shown", order.length <= FEW ? "" :
      `Drawn: all ${many(order.length, "arm")}; neighbours that would share a pixel are one bar.`);
    return order;
  }
  const chosen = new Set([state.leader, ...state.selection]);
  const farthest = order.filter((row) => !chosen.has(row[ARM])).sort((a, b) => reach(state, b) - reach(state, a));
  const drawn = new Set(farthest.slice(0, FEW));
  const rows = order.filter((row) => drawn.has(row) || chosen.has(row[ARM]));
  const whose = isBounded(state) ? "that contest it most" : "with the best averages";
  say("race-shown", `Drawn: ${chosen.size > 1 ? "the leaders" : "the leader"} and the ${count(FEW)} ${whose}; ` +
    `${many(order.length - rows.length, "other arm")} not. The table has them all.`);
  return rows;
}

/** How far an arm may still reach: the larger, the more it contests the leader. Without bounds its average. */
function reach(state, row) {
  const [end, sign] = state.minimise ? [row[LOWER], -1] : [row[UPPER], 1];
  return sign * (isBounded(state) ? end ?? sign * Number.MAX_VALUE : row[MEAN]);
}

/** Bars as one shape: one path on the screen, however many arms there are. A trace with gaps would make one for each. */
function bars(rows, places, [low, high], step, look, from = LOWER, to = UPPER) {
  const parts = [];
  let [column, at, bottom, top] = [null, 0, 0, 0];
  const finish = () => column !== null && parts.push(`M${at},${bottom}L${at},${top}`);
  for (const row of rows) {
    const place = places.get(row[ARM]);
    const [lower, upper] = [row[from] ?? low, row[to] ?? high];
    if (Math.floor(place / step) === column) {
      bottom = Math.min(bottom, lower);
      top = Math.max(top, upper);
    } else {
      finish();
      [column, at, bottom, top] = [Math.floor(place / step), place, lower, upper];
    }
  }
  finish();
  // A shape has to have a path; one without a length cannot be seen.
  return { type: "path", path: parts.join("") || `M1,${low}L1,${low}`, layer: "between", line: look };
}

const DETAILS = "arm %{customdata[0]}: average %{y:.4g}<br>bounds %{customdata[2]} and %{customdata[3]}" +
  "<br>%{customdata[1]} evaluations<extra></extra>";

/** Averages: markers that tell about their arms where there are few, else one line. */
function averages(rows, places, name, few, look) {
  const trace = {
    type: "scatter",
    mode: few ? "markers" : "lines",
    name,
    x: rows.map((row) => places.get(row[ARM])),
    y: rows.map((row) => row[MEAN]),
    hovertemplate: few ? DETAILS : "rank %{x}: average %{y:.4g}<extra></extra>",
    ...look,
  };
  if (few) {
    trace.customdata = rows.map((row) =>
      [row[ARM], count(row[PULLS]), number(row[LOWER], "none"), number(row[UPPER], "none")]);
  }
  return trace;
}

/** The lowest and the highest end that is known, the line's included: where bars without an end go to. */
function extremes(rows, line) {
  let [low, high] = line === null ? [Infinity, -Infinity] : [line, line];
  for (const row of rows) {
    low = Math.min(low, row[LOWER] ?? row[MEAN]);
    high = Math.max(high, row[UPPER] ?? row[MEAN]);
  }
  return [low, high];
}

/** What the axis covers: the leaders whole, the others as far as they reach, and as much on the line's other side. */
function around(state, rows, first, ends) {
  if (state.line === null || !isBounded(state) || first.length === 0) {
    return ends;
  }
  const whole = first.flatMap((row) => [row[MEAN], row[LOWER] ?? row[MEAN], row[UPPER] ?? row[MEAN]]);
  const far = rows.map((row) => row[state.minimise ? LOWER : UPPER] ?? row[MEAN]);
  const low = far.reduce((a, b) => Math.min(a, b), Math.min(state.line, ...whole));
  const high = far.reduce((a, b) => Math.max(a, b), Math.max(state.line, ...whole));
  return state.minimise ? [low, Math.max(...whole, 2 * state.line - low)] : [Math.min(...whole, 2 * state.line - high), high];
}

/** Draw the race. */
export function drawRace(library, state, order) {
  const leader = leaderOf(state, order);
  const place = element("race");
  place.hidden = leader === null;
  const rows = shown(state, order);
  if (leader === null) {
    return;
  }
  const places = new Map(rows.map((row, index) => [row[ARM], index + 1]));
  const ends = extremes(rows, state.line);
  // Bars leave as much room between them as they take, and markers are for those who can see them apart.
  const room = (place.clientWidth - 80) / rows.length;
  const few = rows.length <= MARKED && room > 5;
  const step = Math.max(1, Math.floor(1 / room));
  const chosen = new Set([state.leader, ...state.selection]);
  const first = rows.filter((row) => chosen.has(row[ARM]));
  const rivals = rows.filter((row) => row[CONTESTS]);
  const beaten = rows.filter((row) => !row[CONTESTS] && !chosen.has(row[ARM]));
  const wide = step > 1 ? 1.2 * step * room : Math.min(Math.max(room / 3, 0.5), 2);
  const margin = Math.max(0.8, 0.012 * rows.length);
  const barred = isBounded(state) ? (some) => some : () => [];
  const part = state.minimise ? [LOWER, MEAN] : [MEAN, UPPER];
  const shapes = [
    bars(barred(beaten), places, ends, step, { color: colour("other"), width: wide }, ...part),
    bars(barred(rivals), places, ends, step, { color: colour("rival"), width: step > 1 ? wide : 1.5 * wide }, ...part),
    bars(barred(first), places, ends, 1, { color: colour("leader"), width: Math.min(Math.max(room, 3), 6) }),
  ];
  if (state.line !== null) {
    shapes.push({
      type: "line", xref: "paper", x0: 0, x1: 1, y0: state.line, y1: state.line, layer: "above",
      line: { color: colour("text"), width: 1.5, dash: "dash" },
    });
  }
  if (isWeighed(state)) {
    shapes.push({
      type: "line", xref: "paper", x0: 0, x1: 1, y0: state.rest, y1: state.rest, layer: "above",
      line: { color: colour("rival"), width: 2, dash: "dot" },
    });
  }
  const traces = [
    few
      ? averages(beaten, places, "others", true, { marker: { color: colour("other"), size: 5 } })
      : averages(rows.filter((_, index) => index % step === 0), places, "average", false, { line: { color: colour("text"), width: 1.5 } }),
    averages(few ? rivals : [], places, "contest the leader", true, {
      marker: { color: colour("card"), size: 7, symbol: "circle", line: { color: colour("rival"), width: 2 } },
    }),
    averages(first, places, "leader", true, {
      marker: { color: colour("leader"), size: 13, symbol: "diamond", line: { color: colour("card"), width: 1.5 } },
    }),
  ];
  const [low, high] = around(state, rows, first, ends);
  const edge = 0.04 * (high - low || 1);
  const form = layout(
    `race ${state.name}`,
    { title: "rank by average, the best first", range: [1 - margin, rows.length + margin] },
    { title: state.minimise ? "mean cost (small is good)" : "mean reward", range: [low - edge, high + edge] },
    { shapes },
  );
  draw(library, place, [state.name, state.status, state.leader, state.updated, rows.length], traces, form);
}

/** Let people ask for all arms. */
export function watchRace(redraw) {
  element("race-all").addEventListener("click", () => {
    wantsAll = !wantsAll;
    redraw();
  });
}
