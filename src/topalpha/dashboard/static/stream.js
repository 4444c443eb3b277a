// The server's events, through lost connections and restarts of the server.

const SHORTEST = 500;
const LONGEST = 4000;
// The server says something every five seconds at least: after three times that the line is dead, however it looks.
const SILENCE = 15000;
// How often a page that nobody sees asks how the searches stand, for its title.
const LOOK = 10000;

/** A stream of events about one search, which goes on by itself until it is closed. */
export class Stream {
  /** ``handlers``: functions by name of event, and ``connected`` and ``lost``, which gets the seconds to the next try. */
  constructor(handlers) {
    this.handlers = handlers;
    this.name = null;
    this.source = null;
    this.timer = null;
    this.silence = null;
    this.wait = SHORTEST;
    globalThis.addEventListener("online", () => this.hurry());
    // A browser holds six connections to a server for all its tabs together: hidden tabs give theirs back.
    document.addEventListener("visibilitychange", () => this.open());
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
    if (document.hidden) {
      this.timer = setTimeout(() => this.look(), LOOK);
      return;
    }
    const query = this.name === null ? "" : `?${new URLSearchParams({ name: this.name })}`;
    const source = new EventSource(`/api/stream${query}`);
    this.source = source;
    this.listen(source);
    source.onopen = () => {
      this.listen(source);
      this.wait = SHORTEST;
      this.handlers.connected();
    };
    source.onerror = () => {
      if (this.source === source) {
        this.again();
      }
    };
    for (const kind of ["searches", "state", "missing", "beat"]) {
      source.addEventListener(kind, (event) => {
        if (this.source === source) {
          this.listen(source);
          this.handlers[kind]?.(event.data);
        }
      });
    }
  }

  /** Something was heard; from now on silence is measured again. */
  listen(source) {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => {
      if (this.source === source) {
        this.again();
      }
    }, SILENCE);
  }

  /** Nobody sees the page: ask once, over a connection that is free again at once. */
  async look() {
    try {
      const answer = await fetch("/api/searches", { signal: AbortSignal.timeout(LOOK) });
      if (document.hidden && answer.ok) {
        this.handlers.searches(await answer.text());
      }
    } catch {
      // Whoever looks at the page again is told.
    }
    if (document.hidden) {
      this.open();
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
    clearTimeout(this.silence);
    this.timer = null;
    this.source?.close();
    this.source = null;
  }
}
