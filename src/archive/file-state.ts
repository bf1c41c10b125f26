/** The remembered state of a file beside its offset. */

import { isPlainObject, type JsonObject } from "../model/json.ts";
import type { IgnorableSession } from "./rules/ignoring-rule.ts";

export interface FileState {
  /** The reader's resume state. */
  readonly reader?: JsonObject;
  /** The parent of the next entry, in a format without a tree. */
  readonly last?: string | null;
  /** The end of the hashed bytes, if after the offset: an unterminated last line was read. */
  readonly end?: number;
  /** The origin key of the file's only session. */
  readonly key?: string;
  /** The session of a file without messages. */
  readonly empty?: string;
  /** Of a file whose only session a rule keeps out: what the rule is looked up by again. */
  readonly ignored?: IgnorableSession;
}

/** Larger resume states are dropped; the file is then read whole. */
const MAX_STATE_BYTES = 256 * 1024;

export function formatState(state: FileState): string | null {
  const { reader: _, ...rest } = state;
  const text = [state, rest].map((each) => JSON.stringify(each)).find(isShort);
  return text === undefined || text === "{}" ? null : text;
}

function isShort(text: string): boolean {
  return Buffer.byteLength(text) <= MAX_STATE_BYTES;
}

export function parseState(text: string | null): FileState {
  const state: unknown = text === null ? {} : JSON.parse(text);
  return isPlainObject(state) ? (state as FileState) : {};
}
