/**
 * Short references of messages: `k3f9#12` is the short id of a session and the index of a message
 * on its active path. It takes a fifth of the tokens of the two full ids.
 */

export interface MessageRef {
  /** Absent if only an index was given. */
  readonly session?: string;
  readonly index: number;
}

export function formatRef(session: string, index: number | null): string {
  return index === null ? session : `${session}#${index}`;
}

/** The last line of an answer: how to read on from a message. */
export function readOn(session: string, index: number | null): string {
  return `Read on: list_messages { "around": "${formatRef(session, index)}" }.`;
}

/** Parses `k3f9#12`, `#12` or `12`; undefined for anything else, such as an entry's id. */
export function parseRef(text: string): MessageRef | undefined {
  const [, session = "", index] = /^(?:(.+)#|#?)(\d{1,9})$/s.exec(text) ?? [];
  if (index === undefined) return undefined;
  return { index: Number(index), ...(session === "" ? {} : { session }) };
}
