// What is known of the search that is looked at: the first message says everything, later ones what changed.

// Places in a row of an arm.
export const [ARM, PULLS, MEAN, LOWER, UPPER, PENDING] = [0, 1, 2, 3, 4, 5];

/** A new state out of the one before and a message of the server. */
export function merged(before, message) {
  const fresh = message.full || before === null || before.name !== message.name;
  const rows = fresh ? [] : before.rows;
  for (const row of message.rows ?? []) {
    rows[row[ARM]] = row;
  }
  return { ...(fresh ? {} : before), ...message, rows };
}

/** The arms with a mean, best first; of equals the one that was evaluated more often, then the older one. */
export function ranked(state) {
  const sign = state.minimise ? 1 : -1;
  const seen = state.rows.filter((row) => row && row[MEAN] !== null);
  return seen.sort((a, b) => sign * (a[MEAN] - b[MEAN]) || b[PULLS] - a[PULLS] || a[ARM] - b[ARM]);
}

/** Whether the algorithm has bounds that can be compared. */
export function isBounded(state) {
  return state.bounded !== false;
}

/** Whether an arm's bound is over the line that all must fall under (below it, where small is good). */
export function isOver(state, row) {
  if (!isBounded(state) || state.leader === null || state.leader === undefined || row[ARM] === state.leader) {
    return false;
  }
  const end = state.minimise ? row[LOWER] : row[UPPER];
  // As long as the leader's bound is infinite no line is there, and everyone is over it.
  return state.line === null || end === null || (state.minimise ? end < state.line : end > state.line);
}

/** Whether an arm may still beat the leader: once the stopping rule is met none may, wherever its bound is. */
export function contests(state, row) {
  return state.status !== "stopped" && isOver(state, row);
}
