/**
 * Cooperative yielding to the host's event loop.
 *
 * A loop of awaited calls with synchronous answers would starve timers and sockets. So every few
 * milliseconds an answer is delayed by one turn.
 */

const LONGEST_MS = 2;

export class EventLoopYielder {
  #lastTurn = performance.now();

  /** Undefined if the event loop has just turned; else resolves after the next turn. */
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
