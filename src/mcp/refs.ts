/**
 * How a model names a message: `k3f9#12`, the short id of a session and the index of a message on its
 * active path. It takes a fifth of the tokens of a session's and an entry's id.
 */

export interface MessageRef {
  /** Absent where only an index was given. */
  readonly session?: string;
  readonly index: number;
}

export function formatRef(session: string, index: number | null): string {
  return index === null ? session : `${session}#${index}`;
}

/** How to read on from a message, as the last words of an answer. */
export function readOn(session: string, index: number | null): string {
  return `Read on: list_messages { "around": "${formatRef(session, index)}" }.`;
}

/** `k3f9#12`, `#12` or `12`; undefined for anything else, such as an entry's id. */
export function parseRef(text: string): MessageRef | undefined {
  const [, session = "", index] = /^(?:(.+)#|#?)(\d{1,9})$/s.exec(text) ?? [];
  if (index === undefined) return undefined;
  return { index: Number(index), ...(session === "" ? {} : { session }) };
}
