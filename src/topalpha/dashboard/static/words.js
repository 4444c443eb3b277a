// Numbers and moments, in words that a practitioner reads.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const moment = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });

/** A count: 12,345. */
export function count(value) {
  return value === null || value === undefined ? "unknown" : whole.format(value);
}

/** A count of things: "1 arm", "2 arms". */
export function many(value, one, several = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : several}`;
}

/** A measurement to four digits, without trailing zeros. */
export function number(value, otherwise = "unknown") {
  if (value === null || value === undefined || !Number.isFinite(value)) {
    return otherwise;
  }
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) {
    return value.toExponential(2);
  }
  return String(Number(value.toPrecision(4)));
}

/** A fraction as a percentage: 0.05 is "5%". */
export function percent(value) {
  if (value === null || value === undefined || Number.isNaN(value)) {
    return "an unknown share";
  }
  return `${number(100 * value)}%`;
}

/** Seconds since 1970, or a date as ISO text, as local time. */
export function time(value) {
  if (value === null || value === undefined) {
    return "unknown";
  }
  const date = new Date(typeof value === "number" ? 1000 * value : value);
  return Number.isNaN(date.getTime()) ? String(value) : moment.format(date);
}

/** What the top is called. */
export function top(alpha, minimise) {
  return `${minimise ? "best (smallest)" : "top"} ${percent(alpha)}`;
}

const ENDINGS = {
  stopped: "Finished: proved",
  pulls: "Ended: the budget of evaluations was spent",
  seconds: "Ended: the budget of seconds was spent",
  cost: "Ended: the budget of costs was spent",
  interrupted: "Ended: it was interrupted",
  terminated: "Ended: it was told to terminate",
  hangup: "Ended: its terminal was closed",
  lost: "Ended: too many evaluations were lost",
  failed: "Ended: an evaluation failed",
  message: "Ended: it was told to stop",
  vanished: "Ended: its file was lost",
};

/** How a search stands, in words; colour only repeats it. */
export function standing(search) {
  if (search.status !== "running") {
    return ENDINGS[search.status] ?? `Ended: ${search.status}`;
  }
  if (!search.alive) {
    return "No sign of life";
  }
  return search.paused ? "Paused" : "Running";
}

/** One word for the style sheet. */
export function mood(search) {
  if (search.status !== "running") {
    return search.status === "stopped" ? "proved" : "ended";
  }
  if (!search.alive) {
    return "silent";
  }
  return search.paused ? "paused" : "running";
}
