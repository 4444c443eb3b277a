// The heading, the big figures, and the certificate of a search that has ended.

import { element, made, say } from "./page.js";
import { count, many, mood, number, percent, standing, time, top } from "./words.js";

/** What is looked for, and how the search stands. */
export function heading(state) {
  say("name", state.name);
  say("status", standing(state));
  element("status").dataset.mood = mood(state);
  say("task", `Looks for a candidate whose mean is within epsilon = ${number(state.epsilon)} of the ` +
    `${top(state.alpha, state.minimise)} (alpha = ${number(state.alpha)}) of ${state.law}, with probability at least ` +
    `${percent(1 - state.delta)} (delta = ${number(state.delta)}). Algorithm: ${state.algorithm}. ` +
    `Rewards: ${state.family}${state.minimise ? ", small ones are good" : ""}. Begun ${time(state.created)}.`);
}

/** The title, which people see in a tab that they do not look at; of a search or of its line in the list. */
export function title(search) {
  document.title = `${standing(search)} · ${search.name} · topalpha`;
}

/** Whom the proof is about: the arm that a certificate would name, which need not be the leader. */
export function proven(state) {
  const known = state.about !== null && state.about !== undefined;
  return known ? `Arm ${state.about}` : "The arm that it would name, if stopped now,";
}

function gap(state) {
  if (state.status === "stopped") {
    return ["0", `The stopping rule was met: epsilon = ${number(state.epsilon)} is proved.`];
  }
  if (state.certificate) {
    return certifiedGap(state);
  }
  if (state.gap === null || state.gap === undefined) {
    return ["Not yet known", `Nothing is proved yet about the ${top(state.alpha, state.minimise)}. That ` +
      "takes at least one evaluation of every candidate to be drawn."];
  }
  if (state.claims?.length === 0) {
    return [number(Math.max(state.gap, 0)), `Nothing is proved yet. Wanted: within ${number(state.epsilon)} of the ` +
      `${top(state.alpha, state.minimise)}.`];
  }
  const reached = state.epsilon + Math.max(state.gap, 0);
  return [number(Math.max(state.gap, 0)), `${proven(state)} is proved to be within ${number(reached)} of the ` +
    `${top(state.alpha, state.minimise)}. Wanted: within ${number(state.epsilon)}.`];
}

/** Of a search that ended early: what its certificate says, and nothing else. */
function certifiedGap(state) {
  const wanted = `Wanted: within ${number(state.epsilon)} of the ${top(state.alpha, state.minimise)}.`;
  const claim = state.certificate.claims?.find((one) => one.alpha === state.alpha);
  if (claim === undefined) {
    return ["Not known", `Nothing is proved about the ${top(state.alpha, state.minimise)}. ${wanted}`];
  }
  return [number(Math.max(claim.epsilon - state.epsilon, 0)), `Arm ${state.certificate.arm} is proved to be within ` +
    `${number(claim.epsilon)} of the ${top(state.alpha, state.minimise)}. ${wanted}`];
}

/** How much of the needed evidence there is, as a sentence; nothing if the file does not say. */
function evidence(state) {
  return typeof state.evidence === "number" ? `${Math.floor(100 * state.evidence)}% of the needed evidence is there. ` : "";
}

function left(state) {
  const there = evidence(state);
  if (state.left === null || state.left === undefined) {
    return ["Not known now", `${there}The number is shown where it can be trusted, mostly between a third and three quarters ` +
      "of the way."];
  }
  return [count(state.left), `${there}An estimate: two in three or more are within a factor of 2.`];
}

/** Each of the four figures with its note. */
export function figures(state) {
  const [gapped, gapNote] = gap(state);
  say("gap", gapped);
  say("gap-note", gapNote);
  element("left-card").hidden = state.status !== "running";
  const [remaining, leftNote] = left(state);
  say("left", remaining);
  say("left-note", leftNote);
  say("pulls", count(state.pulls ?? 0));
  // How many contest the leader; the race of a search that has ended tells it of the arm that the certificate names.
  const open = state.bounded === false || state.certificate ? "" : `; ${many(state.unresolved ?? 0, "arm")} still in question`;
  const more = state.undrawn ? `, ${count(state.undrawn)} more to be drawn` : "";
  say("pulls-note", `Of ${many(state.arms ?? 0, "arm")}${more}; ${count(state.in_flight ?? 0)} in flight${open}. ` +
    `Last change ${time(state.updated)}.`);
  const led = state.leader !== null && state.leader !== undefined;
  say("leader-title", state.certificate ? "Arm of the certificate" : "Leader");
  say("leader", led ? `Arm ${state.leader}` : "None yet");
  const bounds = state.bounded === false ? "no bounds" :
    `bounds ${number(state.low, "none")} and ${number(state.high, "none")}`;
  say("leader-note", led ? `Average ${number(state.mean)}; ${bounds}.` : "No arm has been evaluated yet.");
}

/** The candidate in few digits, and in all of them where that differs. */
function candidate(state) {
  const value = state.certificate.candidate;
  const exact = typeof value === "string" ? value : JSON.stringify(value);
  return [["Candidate", state.candidate], ...(exact === state.candidate ? [] : [["Exactly", exact]])];
}

const ACTIONS = { retry: "evaluated again", worst: "counted as the worst reward", raise: "ended the search" };

/** Failed evaluations, in words; nothing if there were none. */
function failures(certificate) {
  const parts = Object.entries(certificate.failures ?? {}).filter(([, times]) => times > 0)
    .map(([action, times]) => `${count(times)} ${ACTIONS[action] ?? action}`);
  return parts.length === 0 ? "" : `Evaluations failed: ${parts.join(", ")}.`;
}

/** Show the certificate of this state, or none. */
export function showCertificate(state) {
  const certificate = state.certificate ?? null;
  element("certificate").hidden = certificate === null;
  if (certificate === null) {
    return;
  }
  say("statement", certificate.statement);
  const facts = [
    ...candidate(state),
    ["Spent", `${many(certificate.pulls, "evaluation")} of ${many(certificate.arms, "arm")}`],
    ["Its average", `${number(certificate.mean)}; at worst its mean is ${number(certificate.at_worst)}`],
    ["Others", `at best ${number(certificate.others_at_best)}`],
    ["Bounds", certificate.bounds],
    ["Proof", certificate.proof],
  ];
  element("certificate-facts").replaceChildren(...facts.map(([title, text]) => {
    const pair = made("div");
    pair.append(made("dt", title), made("dd", String(text)));
    return pair;
  }));
  element("assumptions").replaceChildren(...certificate.assumptions.map((text) => made("li", text)));
  const failed = failures(certificate);
  say("failures", failed);
  element("failures").hidden = failed === "";
  const print = certificate.digest ? ` Fingerprint of all that was recorded: ${certificate.digest}.` : "";
  say("origin", `topalpha ${certificate.version}, seed ${certificate.seed}.${print} ` +
    "“topalpha verify” computes this again from the file.");
}
