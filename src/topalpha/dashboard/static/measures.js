// How long things take, where the browser's own tools and the tests can see it.

const KEPT = 100;

/** A moment of loading, noted once. */
export function mark(name) {
  if (performance.getEntriesByName(`topalpha-${name}`, "mark").length === 0) {
    performance.mark(`topalpha-${name}`);
  }
}

/** Note that something took from ``start`` (of ``performance.now()``) until now; old notes are dropped. */
export function measure(name, start) {
  const title = `topalpha-${name}`;
  if (performance.getEntriesByName(title, "measure").length >= KEPT) {
    performance.clearMeasures(title);
  }
  performance.measure(title, { start, end: performance.now() });
}
