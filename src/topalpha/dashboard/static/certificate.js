// What a search that has ended has proved, and what that rests on.

import { element, made, say } from "./page.js";
import { count, many, number } from "./words.js";

function candidate(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
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
    ["Candidate", candidate(certificate.candidate)],
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
