// The elements of the page, and how long they take. Whatever was stored by a search enters it as text, never as markup.

// Notes of how long an update took that are kept, where the browser's own tools and the tests can see them.
const KEPT = 100;

/** The element with this id. */
export function element(id) {
  return document.getElementById(id);
}

/** Show this text in the element with this id; what is there already is left alone. */
export function say(id, text) {
  const place = element(id);
  if (place.textContent !== text) {
    place.textContent = text;
  }
}

/** A new element with text in it. */
export function made(tag, text = "", settings = {}) {
  const one = document.createElement(tag);
  one.textContent = text;
  for (const [name, value] of Object.entries(settings)) {
    one.setAttribute(name, value);
  }
  return one;
}

/** Tell everyone, screen readers included. */
export function announce(text) {
  say("messages", text);
}

/** Something is wrong and stays so until it is mended; no text takes the notice away. */
export function notice(text) {
  say("notice", text);
  element("notice").hidden = text === "";
}

/** A button that may not be pressed stays in reach of the keyboard, so that people can find out why. */
export function allow(button, allowed) {
  button.setAttribute("aria-disabled", String(!allowed));
}

/** Whether a button may be pressed. */
export function allowed(button) {
  return button.getAttribute("aria-disabled") !== "true";
}

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
