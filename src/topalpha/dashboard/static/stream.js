// The server's events, through lost connections and restarts of the server.

const SHORTEST = 500;
const LONGEST = 4000;
// The server sends a sign of life every ten seconds, but comments do not reach scripts: a dead line shows as an error.

/** A stream of events about one search, which goes on by itself until it is closed. */
export class Stream {
  /** ``handlers``: functions by name of event, and ``connected`` and ``lost``, which gets the seconds to the next try. */
  constructor(handlers) {
    this.handlers = handlers;
    this.name = null;
    this.source = null;
    this.timer = null;
    this.wait = SHORTEST;
    globalThis.addEventListener("online", () => this.hurry());
    document.addEventListener("visibilitychange", () => document.hidden || this.hurry());
  }

  /** Follow another search, or wait for any if there is none. */
  follow(name) {
    this.name = name;
    this.wait = SHORTEST;
    this.open();
  }

  /** Try now, if the connection is lost. */
  hurry() {
    if (this.timer !== null) {
      this.open();
    }
  }

  open() {
    this.shut();
    const query = this.name === null ? "" : `?${new URLSearchParams({ name: this.name })}`;
    const source = new EventSource(`/api/stream${query}`);
    this.source = source;
    source.onopen = () => {
      this.wait = SHORTEST;
      this.handlers.connected();
    };
    source.onerror = () => {
      if (this.source === source) {
        this.again();
      }
    };
    for (const kind of ["searches", "state", "missing"]) {
      source.addEventListener(kind, (event) => {
        if (this.source === source) {
          this.handlers[kind](event.data);
        }
      });
    }
  }

  again() {
    this.shut();
    this.handlers.lost(this.wait / 1000);
    this.timer = setTimeout(() => this.open(), this.wait);
    this.wait = Math.min(2 * this.wait, LONGEST);
  }

  shut() {
    clearTimeout(this.timer);
    this.timer = null;
    this.source?.close();
    this.source = null;
  }
}
