/**
 * Only the newest search of a connection continues: search-as-you-type sends one per
 * keystroke and needs only the last answer. Connections of HTTP/1.1 carry several at once if the
 * caller sends the next one before the first is answered.
 */

import { BackscrollError } from "../../model/errors.ts";

export class NewestSearch {
  readonly #running = new WeakMap<object, AbortController>();

  /** The signal is aborted, with `search_superseded`, by the connection's next search. */
  begin(connection: object): { readonly signal: AbortSignal; end(): void } {
    this.#running.get(connection)?.abort(superseded());
    const own = new AbortController();
    this.#running.set(connection, own);
    return {
      signal: own.signal,
      end: () => {
        if (this.#running.get(connection) === own) this.#running.delete(connection);
      },
    };
  }
}

function superseded(): BackscrollError {
  return new BackscrollError(
    "search_superseded",
    "a newer search on the same connection took the place of this one",
  );
}
