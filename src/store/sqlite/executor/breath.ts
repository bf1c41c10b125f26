/**
 * Lets the host's event loop have its turn.
 *
 * An answer that needs no other thread is there before the event loop goes round, so that a loop of
 * awaited calls would keep timers and sockets waiting for as long as it runs. Every few milliseconds
 * an answer is therefore given one turn later.
 */

const LONGEST_MS = 2;

export class Breath {
  #lastTurn = performance.now();

  /** Undefined while the event loop has had a turn lately; else resolves after the next one. */
  take(): Promise<void> | undefined {
    if (performance.now() - this.#lastTurn < LONGEST_MS) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#lastTurn = performance.now();
        resolve();
      });
    });
  }
}
