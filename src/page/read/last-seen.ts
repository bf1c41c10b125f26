/** The message at which a reader left each session, kept in the storage of the origin. */

const KEPT = "backscroll-last-seen";
/** Sessions; the oldest are forgotten. */
const MAX_KEPT = 300;

export function lastSeenIn(sessionId: string): number {
  return new Map(kept()).get(sessionId) ?? 0;
}

export function rememberSeen(sessionId: string, index: number): void {
  const others = kept().filter(([id]) => id !== sessionId);
  localStorage.setItem(KEPT, JSON.stringify([...others, [sessionId, index]].slice(-MAX_KEPT)));
}

function kept(): readonly (readonly [sessionId: string, index: number])[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
