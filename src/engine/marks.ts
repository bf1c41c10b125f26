/** Marks: what a person says of a message, or of a session, that does not hold. */

import { defined } from "../model/defined.ts";
import { checkName, checkText } from "../model/ids.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { MAX_TITLE_BYTES } from "../model/limits.ts";
import {
  type Mark,
  type MarkData,
  type MarkKind,
  type Place,
  type StoredMark,
  standingMarks,
} from "../model/mark.ts";
import { entryNotFound } from "../store/store-errors.ts";
import { appendDrafts } from "./append.ts";
import { checkInput, checkKey, invalid } from "./check.ts";
import type { EngineContext } from "./engine-context.ts";
import { indexOf, toEntry } from "./entry-view.ts";
import { draftEntry } from "./message-input.ts";

export interface MarkInput extends UnmarkInput {
  /** Why it does not hold: at most 1,024 bytes. */
  readonly reason: string;
  /** The id of the message or session that holds in its place. Default: none, it is wrong. */
  readonly replacedBy?: string;
}

export interface UnmarkInput {
  /** A message of the session. Default: the whole session. */
  readonly entryId?: string;
  /** The actor that sets the mark, or takes it back. Default: none. */
  readonly actor?: string;
}

/** Marks a message of the session, or the session, in place of an earlier mark. */
export async function markSession(
  engine: EngineContext,
  sessionId: string,
  input: MarkInput,
): Promise<Mark> {
  const { entryId, replacedBy, actor } = checkInput(input, "mark", INPUTS.mark);
  const reason = checkText(input.reason, "reason", MAX_TITLE_BYTES).trim();
  if (reason === "") throw invalid("reason", "reason is empty; say why it does not hold");
  const named = [entryId, replacedBy].filter((id) => id !== undefined);
  const places = await findPlaces(engine, named);
  const place = replacedBy === undefined ? null : places.get(replacedBy);
  if (place === undefined) throw entryNotFound(replacedBy ?? "");
  if (replacedBy !== undefined && replacedBy === (entryId ?? sessionId)) {
    throw invalid("replacedBy", "replacedBy names what it marks; name what holds in its place");
  }
  const kind: MarkKind = place === null ? "wrong" : "replaced";
  const id = place === null ? undefined : (place.entryId ?? place.sessionId);
  const data = { mark: kind, reason, ...defined({ replacedBy: id }) } as const;
  const createdAt = await appendMark(engine, sessionId, input, data, places);
  const stored = { kind, reason, actor: actor ?? null, createdAt, replacedBy: place };
  return { entryId: entryId ?? null, index: places.get(entryId ?? "")?.index ?? null, ...stored };
}

/** Takes a mark back; it stays in the log. */
export async function unmarkSession(
  engine: EngineContext,
  sessionId: string,
  input: UnmarkInput,
): Promise<void> {
  const { entryId } = checkInput(input, "options", INPUTS.unmark);
  const places = await findPlaces(engine, entryId === undefined ? [] : [entryId]);
  await appendMark(engine, sessionId, input, { mark: null }, places);
}

async function appendMark(
  engine: EngineContext,
  sessionId: string,
  { entryId, actor }: UnmarkInput,
  mark: Omit<MarkData, "targetId">,
  places: ReadonlyMap<string, Place>,
): Promise<number> {
  const id = entryId === undefined ? null : checkKey(entryId, "entryId");
  if (id !== null && places.get(id)?.sessionId !== sessionId) throw entryNotFound(id, sessionId);
  const data = { targetId: id, ...mark };
  const by = actor === undefined ? {} : { actor: checkName(actor, "actor") };
  const now = engine.now();
  const draft = draftEntry({ kind: "label", blocks: [], data, ...by }, engine.newId(), now);
  await appendDrafts(engine, sessionId, [draft]);
  return now;
}

/** Beyond this, only the newest labels are read. */
const MAX_LABELS = 10_000;

/** The marks of the session that stand, in the order of the log. */
export async function readMarks(engine: EngineContext, sessionId: string): Promise<Mark[]> {
  const page = await engine.store.readEntries(engine.tenant, {
    select: "marked",
    sessionId,
    mark: "label",
    limit: MAX_LABELS,
    payloads: false,
  });
  return shownMarks(engine, standingMarks(page.entries.map((entry) => toEntry(entry, new Map()))));
}

/** With the places of the marked messages, and of what replaced them. */
export async function shownMarks(
  engine: EngineContext,
  marks: readonly StoredMark[],
): Promise<Mark[]> {
  const ids = marks.flatMap(({ entryId, replacedBy }) => [entryId ?? [], replacedBy ?? []].flat());
  const places = await findPlaces(engine, ids);
  return marks.map((mark) => ({
    ...mark,
    index: places.get(mark.entryId ?? "")?.index ?? null,
    replacedBy: places.get(mark.replacedBy ?? "") ?? null,
  }));
}

/** The messages and sessions with these ids; unknown ones are absent. */
async function findPlaces(
  { store, tenant }: EngineContext,
  ids: readonly string[],
): Promise<Map<string, Place>> {
  const places = new Map<string, Place>();
  if (ids.length === 0) return places;
  const { entries } = await store.findEntries(tenant, [...new Set(ids)], false);
  const found = new Map(entries.map((entry) => [entry.id, entry]));
  const sessionIds = new Set(ids.map((id) => found.get(id)?.sessionId ?? id));
  const sessions = await Promise.all([...sessionIds].map((id) => store.findSession(tenant, id)));
  const shortIds = new Map(
    sessions.flatMap((session) => (session ? [[session.id, session.shortId]] : [])),
  );
  for (const id of ids) {
    const entry = found.get(id);
    const sessionId = entry?.sessionId ?? id;
    const shortId = shortIds.get(sessionId);
    if (shortId === undefined) continue;
    const index = entry === undefined ? null : indexOf(entry.kind, entry.status, entry.ordinal);
    places.set(id, { sessionId, shortId, entryId: entry?.id ?? null, index });
  }
  return places;
}
