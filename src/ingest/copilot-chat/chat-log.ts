/**
 * The newer files of VS Code's chat: the initial session, followed by changes of single values.
 * Replayed, they give the object that older versions wrote whole.
 *
 * A change names its place by a path of keys and indexes. Places and values are untrusted: an
 * invalid change is counted, and the others apply.
 */

import { isPlainObject } from "../../model/json.ts";
import { type Fields, setField } from "../fields.ts";
import { readRecords } from "../jsonl.ts";
import { type Line, MAX_LINE_BYTES } from "../lines.ts";
import type { ProblemLog } from "../problems.ts";

const INITIAL = 0;
const SET = 1;
const PUSH = 2;
const DELETE = 3;

/** Undefined, with a problem, if the file does not begin with a session, or is too long. */
export async function replayLog(
  lines: AsyncIterable<Line>,
  problems: ProblemLog,
): Promise<Fields | undefined> {
  let state: unknown;
  let size = 0;
  for await (const { record, line, length } of readRecords(lines, problems)) {
    size += length;
    if (size > MAX_LINE_BYTES) {
      problems.add("line_too_long", "the changes of a chat are longer than 64 MiB", line);
      return undefined;
    }
    if (record["kind"] === INITIAL) state = record["v"];
    else if (!apply(state, record)) {
      problems.add("unexpected", "a change of a missing value was left out", line);
    }
  }
  if (isPlainObject(state)) return state;
  if (size > 0) problems.add("missing_header", "the file begins without the chat's first state");
  return undefined;
}

/** False if the place does not exist. */
function apply(state: unknown, { kind, k, v, i }: Fields): boolean {
  if (!Array.isArray(k) || k.length === 0) return false;
  const holder = k.slice(0, -1).reduce<unknown>(valueAt, state);
  const name: unknown = k.at(-1);
  if (kind === PUSH) return push(valueAt(holder, name), holder, name, v, i);
  if (kind !== SET && kind !== DELETE) return false;
  return setAt(holder, name, kind === SET ? v : undefined);
}

/** Drops the elements behind index `i` first. */
function push(list: unknown, holder: unknown, name: unknown, v: unknown, i: unknown): boolean {
  const added = Array.isArray(v) ? v : [];
  // A missing list counts as empty.
  if (list === undefined || list === null) return setAt(holder, name, [...added]);
  if (!Array.isArray(list)) return false;
  if (Number.isSafeInteger(i) && (i as number) >= 0) list.splice(i as number);
  for (const each of added) list.push(each);
  return true;
}

function valueAt(holder: unknown, name: unknown): unknown {
  if (Array.isArray(holder)) return isIndex(name, holder) ? holder[name] : undefined;
  if (!isPlainObject(holder) || typeof name !== "string") return undefined;
  return Object.hasOwn(holder, name) ? holder[name] : undefined;
}

function setAt(holder: unknown, name: unknown, value: unknown): boolean {
  if (Array.isArray(holder)) {
    if (!isIndex(name, holder) && name !== holder.length) return false;
    holder[name as number] = value;
    return true;
  }
  if (!isPlainObject(holder) || typeof name !== "string") return false;
  setField(holder, name, value);
  return true;
}

function isIndex(name: unknown, list: readonly unknown[]): name is number {
  return Number.isSafeInteger(name) && (name as number) >= 0 && (name as number) < list.length;
}
