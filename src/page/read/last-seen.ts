/** The message at which a reader left each session, kept in the storage of the origin. */

const KEPT = "backscroll-last-seen";
/** Sessions; the oldest are forgotten. */
const MAX_KEPT = 300;

export function lastSeenIn(sessionId: string): number {
  return new Map(kept()).get(sessionId) ?? 0;
}

export function rememberSeen(sessionId: string, index: number): void {
  const others = kept().filter(([id]) => id !== sessionId);
  const all = JSON.stringify([...others, [sessionId, index]].slice(-MAX_KEPT));
  try {
    localStorage.setItem(KEPT, all);
  } catch {
    // Blocked or full: the session opens at its start the next time.
  }
}

type Seen = readonly [sessionId: string, index: number];

function isSeen(value: unknown): value is Seen {
  return Array.isArray(value) && typeof value[1] === "number";
}

function kept(): readonly Seen[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    return Array.isArray(value) ? value.filter(isSeen) : [];
  } catch {
    return [];
  }
}
