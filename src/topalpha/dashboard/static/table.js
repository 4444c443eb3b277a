// The arms, sorted and searched by the server: the page holds one leaf of the table at a time.

import { allow, allowed, element, made, say } from "./page.js";
import { count, many, number } from "./words.js";

const LEAF = 25;
const PERIOD = 1000;
// Milliseconds in which the dashboard has to answer.
const ANSWER = 8000;

const BEFORE = [
  ["arm", (row) => String(row.arm)],
  ["candidate", (row) => row.candidate ?? ""],
];
const AFTER = [
  ["pulls", (row) => count(row.pulls)],
  ["mean", (row) => number(row.mean, "none")],
  ["lower", (row) => number(row.lower, "none")],
  ["upper", (row) => number(row.upper, "none")],
  ["pending", (row) => count(row.pending)],
];

const wish = { name: null, query: "", sort: "mean", order: "descending", offset: 0 };
let columns = [...BEFORE, ...AFTER];
let leader = null;
let total = 0;
let asked = null;
let due = null;
let last = 0;

/** Ask for what is wished now; an answer to an older wish is dropped. */
async function refresh() {
  clearTimeout(due);
  due = null;
  last = Date.now();
  asked?.abort();
  const call = new AbortController();
  asked = call;
  try {
    const signal = AbortSignal.any([call.signal, AbortSignal.timeout(ANSWER)]);
    const answer = await fetch(`/api/arms?${new URLSearchParams({ ...wish, limit: LEAF })}`, { signal });
    if (answer.ok && asked === call) {
      show(await answer.json());
    } else if (asked === call) {
      say("arms-range", (await answer.json()).error ?? "The arms cannot be read now.");
    }
  } catch (error) {
    // Aborted for a newer wish, or the server is gone: the stream tells that, and asks again when it is back.
    if (error.name === "TimeoutError" && asked === call) {
      say("arms-range", "The dashboard did not answer, so that these rows may be old. It is asked again.");
      due ??= setTimeout(refresh, PERIOD);
    }
  } finally {
    if (asked === call) {
      asked = null;
    }
  }
}

function show(found) {
  total = found.total;
  if (found.rows.length === 0 && wish.offset > 0 && total > 0) {
    wish.offset = LEAF * Math.floor((total - 1) / LEAF);
    refresh();
    return;
  }
  showColumns(found.columns);
  const body = element("arms").tBodies[0];
  found.rows.forEach((row, index) => {
    const line = body.rows[index] ?? body.appendChild(emptyLine());
    line.classList.toggle("leads", row.arm === leader);
    columns.forEach(([, text], place) => {
      const value = text(row);
      if (line.cells[place].textContent !== value) {
        line.cells[place].textContent = value;
      }
    });
  });
  while (body.rows.length > found.rows.length) {
    body.lastChild.remove();
  }
  const end = wish.offset + found.rows.length;
  const among = total === found.of ? many(total, "arm") : `${many(total, "arm")} that match, of ${count(found.of)}`;
  say("arms-range", total === 0 ? `No arm matches, of ${count(found.of)}.` :
    `${count(wish.offset + 1)} to ${count(end)} of ${among}.`);
  allow(element("previous"), wish.offset > 0);
  allow(element("next"), end < total);
}

/** Give each parameter a column, if all candidates have the same; where there is no room, the style sheet shows one text. */
function showColumns(parameters) {
  const fresh = [
    ...BEFORE,
    ...parameters.map(([name, isNumber], place) =>
      [`candidate.${name}`, (row) => row.parameters[place] ?? "", name, isNumber]),
    ...AFTER,
  ];
  if (JSON.stringify(fresh) === JSON.stringify(columns)) {
    return;
  }
  columns = fresh;
  const table = element("arms");
  table.classList.toggle("spread", parameters.length > 0);
  table.tBodies[0].replaceChildren();
  table.querySelectorAll("th.parameter").forEach((header) => header.remove());
  table.querySelector("th[data-sort=candidate]").after(...columns.filter(isParameter).map(([column, , name, isNumber]) => {
    const header = made("th", "", { role: "columnheader", scope: "col", "data-sort": column, class: look(isNumber) });
    header.append(made("button", name, { type: "button" }));
    return header;
  }));
  showOrder();
}

function isParameter([, , name]) {
  return name !== undefined;
}

function look(isNumber) {
  return isNumber ? "parameter" : "parameter words";
}

function emptyLine() {
  const line = made("tr", "", { role: "row" });
  for (const column of columns) {
    const cell = made("td", "", { role: "cell", "data-column": column[0] });
    cell.className = isParameter(column) ? look(column[3]) : "";
    line.append(cell);
  }
  return line;
}

function showOrder() {
  for (const header of document.querySelectorAll("#arms th")) {
    const isIt = header.dataset.sort === wish.sort;
    header.setAttribute("aria-sort", isIt ? wish.order : "none");
  }
}

/** The state has changed: look again, at most once a second. */
export function followTable(state) {
  leader = state.leader;
  element("arms").classList.toggle("ended", state.status !== "running");
  if (wish.name !== state.name) {
    Object.assign(wish, { name: state.name, query: "", sort: "mean", offset: 0 });
    wish.order = state.minimise ? "ascending" : "descending";
    element("query").value = "";
    showOrder();
    refresh();
  } else if (due === null) {
    due = setTimeout(refresh, Math.max(0, last + PERIOD - Date.now()));
  }
}

/** Listen to headers, to the field and to the buttons below. */
export function watchTable() {
  showOrder();
  element("arms").tHead.addEventListener("click", (event) => {
    const header = event.target.closest("button")?.parentElement;
    if (header === undefined) {
      return;
    }
    const again = header.dataset.sort === wish.sort;
    wish.order = again && wish.order === "ascending" ? "descending" : again ? "ascending" : first(header);
    wish.sort = header.dataset.sort;
    wish.offset = 0;
    showOrder();
    refresh();
  });
  let typing = null;
  element("query").addEventListener("input", (event) => {
    clearTimeout(typing);
    wish.query = event.currentTarget.value;
    wish.offset = 0;
    typing = setTimeout(refresh, 150);
  });
  for (const [id, step] of [["previous", -LEAF], ["next", LEAF]]) {
    element(id).addEventListener("click", (event) => {
      if (allowed(event.currentTarget)) {
        wish.offset = Math.max(0, wish.offset + step);
        refresh();
      }
    });
  }
}

function first(header) {
  return /^(arm|candidate.*)$/s.test(header.dataset.sort) ? "ascending" : "descending";
}
