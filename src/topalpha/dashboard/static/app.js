// The page of the dashboard: hears what the server says, shows it, and lists the searches: links, so that the keyboard
// and the back button work.

import { describeCurve, describeHistory, drawCurve, drawHistory, plotly } from "./charts.js";
import { connect, showControls, watchControls, withhold } from "./controls.js";
import { figures, heading, showCertificate, title } from "./figures.js";
import { announce, element, made, mark, measure, notice, say } from "./page.js";
import { describe, drawRace, ranked, watchRace } from "./race.js";
import { Stream } from "./stream.js";
import { followTable, watchTable } from "./table.js";
import { count, mood, standing } from "./words.js";

let listing = { file: "", missing: false, problem: null, controls: false, searches: [] };
let state = null;
let library = null;
let current = null;
let waiting = null;
let wasLost = false;

/** A new state out of the one before and a message: the first one says everything, later ones what changed. */
function merged(before, message) {
  const fresh = message.full || before === null || before.name !== message.name;
  const rows = fresh ? [] : before.rows;
  for (const row of message.rows ?? []) {
    rows[row[0]] = row;
  }
  return { ...(fresh ? {} : before), ...message, rows };
}

/** A search is there to be shown, or not. */
function reveal(isThere) {
  element("search").hidden = !isThere;
  element("waiting").hidden = isThere;
}

/** Draw the charts. */
function drawCharts(order) {
  drawRace(library, state, order);
  drawHistory(library, state);
  drawCurve(library, state);
  mark("charts-drawn");
}

/** Show the state: text first, then the charts. */
function show() {
  if (state === null) {
    return;
  }
  reveal(true);
  heading(state);
  figures(state);
  showControls(state, listing.controls);
  showCertificate(state);
  describeHistory(state);
  describeCurve(state);
  const order = ranked(state);
  describe(state, order);
  mark("first-state");
  if (library === null) {
    afterPaint(loadCharts);
  } else {
    drawCharts(order);
  }
}

/** Show at the next frame; several messages before it make one update. */
function soon(start) {
  if (waiting !== null) {
    return;
  }
  waiting = start;
  requestAnimationFrame(() => {
    waiting = null;
    show();
    measure("update", start);
  });
}

/** Once what is there is on the screen: reading the chart library keeps the page busy for a while. */
function afterPaint(work) {
  requestAnimationFrame(() => setTimeout(work));
}

function loadCharts() {
  plotly().then((loaded) => {
    if (library === null) {
      library = loaded;
      soon(performance.now());
    }
  }, (error) => announce(`${error.message}; the figures and the table hold all the same.`));
}

const stream = new Stream({
  connected() {
    say("connection", "Connected");
    element("connection").dataset.state = "connected";
    connect(true);
    if (wasLost) {
      notice("");
      announce("The connection is back.");
      wasLost = false;
    }
  },
  lost() {
    say("connection", "Connection lost");
    element("connection").dataset.state = "lost";
    connect(false);
    if (!wasLost) {
      announce("");
      notice("The connection to the dashboard is lost. This page tries again by itself; what it shows may be old.");
    }
    wasLost = true;
  },
  searches(data) {
    listing = JSON.parse(data);
    say("file", listing.file);
    if (listing.problem) {
      notice(listing.problem);
    } else if (listing.missing) {
      notice(`The file ${listing.file} is not there yet. This page shows it as soon as it is.`);
    } else if (listing.searches.length === 0) {
      notice(`The file ${listing.file} holds no search yet. This page shows the first one as soon as it begins.`);
    }
    if (listing.searches.length === 0) {
      afterPaint(loadCharts);
    }
    choose();
  },
  state(data) {
    const start = performance.now();
    const message = JSON.parse(data);
    if (message.name !== current) {
      return;
    }
    notice("");
    withhold(false);
    state = merged(state, message);
    title(state);
    followTable(state);
    soon(start);
  },
  missing(data) {
    let text = data;
    try {
      text = JSON.parse(data);
    } catch {
      // A sentence, as it is.
    }
    notice(String(text.error ?? text));
    withhold(true);
  },
});

/** The name in the address, if there is one. */
function chosen() {
  return new URLSearchParams(location.hash.slice(1)).get("name");
}

function address(name) {
  return `#${new URLSearchParams({ name })}`;
}

/** Show the list; links stay the same elements, so that the focus stays where it is. */
function listSearches(searches, current) {
  const list = element("searches");
  element("searches-empty").hidden = searches.length > 0;
  searches.forEach((search, index) => {
    let item = list.children[index];
    if (item === undefined) {
      item = made("li");
      const link = made("a");
      link.append(made("span", "", { class: "title" }), made("span", "", { class: "detail" }));
      item.append(link);
      list.append(item);
    }
    const link = item.firstChild;
    link.href = address(search.name);
    link.dataset.mood = mood(search);
    if (search.name === current) {
      link.setAttribute("aria-current", "true");
    } else {
      link.removeAttribute("aria-current");
    }
    const texts = [search.name, `${standing(search)} · ${count(search.pulls ?? 0)} evaluations`];
    [...link.children].forEach((part, place) => {
      if (part.textContent !== texts[place]) {
        part.textContent = texts[place];
      }
    });
  });
  while (list.children.length > searches.length) {
    list.lastChild.remove();
  }
}

/** Follow the search in the address; without one stay with what is shown, else take the newest that runs. */
function choose() {
  const { searches } = listing;
  const wanted = chosen();
  const best = searches.findLast((search) => search.alive) ?? searches.at(-1);
  const kept = searches.some((search) => search.name === current) ? current : null;
  const name = wanted ?? kept ?? best?.name ?? current;
  listSearches(searches, name);
  const shown = searches.find((search) => search.name === name);
  if (shown !== undefined) {
    title(shown);
  }
  if (name !== current) {
    current = name;
    state = null;
    element("confirm").close();
    reveal(false);
    stream.follow(name);
  } else if (state !== null) {
    showControls(state, listing.controls);
  }
}

globalThis.addEventListener("hashchange", choose);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => soon(performance.now()));
watchControls();
watchTable();
watchRace(() => soon(performance.now()));
current = chosen();
stream.follow(current);
mark("started");
