// Pause, continue, stop: messages to the running search, for those who hold the token.

import { allow, allowed, announce, element, say } from "./page.js";

const PATIENCE = 15000;
// Milliseconds in which the dashboard has to answer.
const ANSWER = 8000;

const DOING = { pause: "Pausing …", continue: "Going on …", stop: "Stopping …" };

let state = null;
let holdsToken = false;
let connected = true;
let missing = false;
let sent = null;
// The search that the question whether to stop is about, while it is asked.
let asked = null;

/** Why the buttons may not be pressed; nothing if they may. */
function obstacle() {
  if (!connected) {
    return "The connection to the dashboard is lost, so nothing can be sent.";
  }
  if (missing) {
    return "The search cannot be read now, so nothing can be sent to it.";
  }
  if (!holdsToken) {
    return "The buttons need the token: open the address that “topalpha dashboard” printed when it began, or, if it was " +
      "given a token, this address with /?token= and that token.";
  }
  if (!state.alive) {
    return "The search gives no sign of life, so nobody would obey. “topalpha resume” goes on with it.";
  }
  return "";
}

function obeyed() {
  return state.status !== "running" || (sent.action === "pause" && state.paused) ||
    (sent.action === "continue" && !state.paused);
}

/** Show what may be done now. */
export function showControls(present, token) {
  const before = state;
  state = present;
  holdsToken = token;
  if (asked !== null && asked !== state.name) {
    element("confirm").close();
  }
  if (sent !== null && (sent.name !== state.name || obeyed())) {
    sent = null;
  }
  const section = element("controls");
  const isEnded = state.status !== "running";
  if (isEnded && section.contains(document.activeElement)) {
    element("main").focus();
  }
  section.hidden = isEnded;
  const why = obstacle();
  const [pause, stop] = [element("pause"), element("stop")];
  say("pause", state.paused && state.status === "running" ? "Continue" : "Pause");
  allow(pause, why === "" && sent === null);
  allow(stop, why === "" && sent?.action !== "stop");
  const hint = state.paused ? "Paused: no evaluation is started until you continue." :
    "The search obeys within a second; evaluations in flight are finished first.";
  say("controls-note", why || (sent === null ? hint : DOING[sent.action]));
  if (before !== null && before.name === state.name) {
    tell(before);
  }
}

function tell(before) {
  if (before.status === "running" && state.status !== "running") {
    announce("The search has ended. What is proved stands below.");
    element("confirm").close();
  } else if (before.paused !== state.paused && state.status === "running") {
    announce(state.paused ? "The search is paused." : "The search goes on.");
  }
}

async function send(name, action) {
  sent = { name, action };
  showControls(state, holdsToken);
  announce(DOING[action]);
  let problem = "the dashboard did not answer. Are there many tabs of it? A browser reads six at once.";
  try {
    const answer = await fetch("/api/control", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ name, action }),
      signal: AbortSignal.timeout(ANSWER),
    });
    problem = answer.ok ? "" : (await answer.json()).error;
  } catch {
    // The sentence above says it, and the stream says when the server is back.
  }
  if (problem !== "") {
    sent = null;
    announce(`That did not work: ${problem}`);
  } else {
    setTimeout(() => {
      if (sent?.name === name && sent.action === action) {
        sent = null;
        announce("The search has not obeyed yet. It looks for messages between evaluations.");
        showControls(state, holdsToken);
      }
    }, PATIENCE);
  }
  showControls(state, holdsToken);
}

/** Whether anything can be sent. */
export function connect(isThere) {
  connected = isThere;
  if (state !== null) {
    showControls(state, holdsToken);
  }
}

/** Whether the search cannot be read now, though the dashboard is there. */
export function withhold(isMissing) {
  missing = isMissing;
  if (state !== null) {
    showControls(state, holdsToken);
  }
}

/** Listen to the buttons. */
export function watchControls() {
  const question = element("confirm");
  element("pause").addEventListener("click", (event) => {
    if (allowed(event.currentTarget)) {
      send(state.name, state.paused ? "continue" : "pause");
    }
  });
  element("stop").addEventListener("click", (event) => {
    if (allowed(event.currentTarget)) {
      asked = state.name;
      question.showModal();
    }
  });
  element("confirm-no").addEventListener("click", () => question.close());
  // The event comes a moment after the question is closed: by then it may be asked again.
  question.addEventListener("close", () => {
    if (!question.open) {
      asked = null;
    }
  });
  element("confirm-yes").addEventListener("click", () => {
    const name = asked;
    question.close();
    if (name !== null && name === state.name) {
      send(name, "stop");
    }
  });
}
