/**
 * Conversations in the database of Cursor's editor: one record for each, and one for each message
 * (a "bubble"); earlier versions have the messages in the record, or a list of tabs.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { KnownIds, toImportedEntry, toImportedSession } from "../drafts.ts";
import { countField, type Fields, otherFields, textField, timeField } from "../fields.ts";
import { parseJson } from "../json-file.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession } from "../source.ts";
import type { ForeignDatabase, Row } from "../sqlite-file.ts";
import { isOpen, toBubbleDrafts } from "./cursor-bubble.ts";
import { FORMAT } from "./cursor-query.ts";

const TABS = "workbench.panel.aichat.view.aichat.chatdata";

/** What is stamped with an earlier time may be written later. */
const SLACK_MS = 60_000;

export interface ComposersEnd {
  /** What a later reading must know: as it was before, if this one has failed. */
  readonly state: JsonObject | undefined;
  /** An answer is being written, or not all could be read. */
  readonly isPostponed: boolean;
}

/** Gives the conversations that have changed. */
export async function* readComposers(
  database: ForeignDatabase,
  resume: JsonObject | undefined,
  problems: ProblemLog,
): AsyncGenerator<ImportedSession, ComposersEnd> {
  const since = countField(resume ?? {}, "since") ?? 0;
  let newest = since;
  let waiting = Number.POSITIVE_INFINITY;
  const keys = "key >= 'composerData:' AND key < 'composerData;'";
  const rows = database.has("cursorDiskKV")
    ? database.rows(`SELECT key, value FROM cursorDiskKV WHERE ${keys}`)
    : [];
  for (const row of rows) {
    const composer = recordOf(row);
    const id = (textField(row, "key") ?? "").slice("composerData:".length);
    if (composer === undefined) {
      // A record without a value is one that was deleted.
      if (row["value"] !== null)
        problems.add("not_json", `the conversation ${id} is no JSON object`);
      continue;
    }
    // Without it nothing says whether the conversation has grown.
    const updated = timeField(composer, "lastUpdatedAt");
    if (updated !== null && updated < since) continue;
    newest = Math.max(newest, updated ?? 0);
    const bubbles = [...bubblesOf(database, id, composer, problems)];
    const postpone = () => {
      waiting = Math.min(waiting, updated ?? newest);
    };
    if (bubbles.length > 0) yield toSession(id, composer, bubbles, problems, postpone);
  }
  yield* readTabs(database, problems);
  return {
    isPostponed: waiting < Number.POSITIVE_INFINITY || database.hasFailed,
    state: database.hasFailed
      ? resume
      : { since: Math.min(newest, waiting, Date.now() - SLACK_MS) },
  };
}

function* bubblesOf(
  database: ForeignDatabase,
  composerId: string,
  composer: Fields,
  problems: ProblemLog,
): Generator<Fields> {
  const inside = listOf(composer["conversation"]);
  if (inside.length > 0) {
    yield* inside;
    return;
  }
  const map = isPlainObject(composer["conversationMap"]) ? composer["conversationMap"] : {};
  for (const header of listOf(composer["fullConversationHeadersOnly"])) {
    const id = textField(header, "bubbleId") ?? "";
    const key = `bubbleId:${composerId}:${id}`;
    const [row] = database.rows("SELECT value FROM cursorDiskKV WHERE key = ?", key);
    const bubble = (row === undefined ? undefined : recordOf(row)) ?? map[id];
    if (isPlainObject(bubble)) yield { type: header["type"], ...bubble, bubbleId: id };
    else problems.add("missing_reference", `the message ${id} of ${composerId} is not there`);
  }
}

function toSession(
  id: string,
  composer: Fields,
  bubbles: readonly Fields[],
  problems: ProblemLog,
  postpone: () => void = () => {},
): ImportedSession {
  const folder = bubbles.map((bubble) => textField(bubble, "workspaceProjectDir")).find(Boolean);
  const isLive = composer["status"] === "generating";
  const ids = new KnownIds(problems);
  async function* entries(): AsyncGenerator<ImportedEntry> {
    for (const [i, bubble] of bubbles.entries()) {
      // What is being written is given when it is whole.
      if (isLive && i === bubbles.length - 1 && isOpen(bubble)) return postpone();
      const own = textField(bubble, "bubbleId") ?? `bubble-${i}`;
      if (!ids.isNew(own)) continue;
      for (const draft of toBubbleDrafts(bubble, own)) yield toImportedEntry(FORMAT, draft);
    }
  }
  return {
    ...toImportedSession(FORMAT, {
      ...{ id, title: textField(composer, "name") || null, cwd: folder ?? null },
      startedAt: timeField(composer, "createdAt"),
      fields: kept(composer),
    }),
    ...{ entries: entries(), problems },
  };
}

/** The panel of the earliest versions. */
async function* readTabs(
  database: ForeignDatabase,
  problems: ProblemLog,
): AsyncGenerator<ImportedSession> {
  if (!database.has("ItemTable")) return;
  const [row] = database.rows("SELECT value FROM ItemTable WHERE key = ?", TABS);
  const { tabs } = (row === undefined ? undefined : recordOf(row)) ?? {};
  for (const tab of listOf(tabs)) {
    const id = textField(tab, "tabId");
    const bubbles = listOf(tab["bubbles"]).map((bubble) => ({
      ...{ ...bubble, type: bubble["type"] === "user" ? 1 : 2 },
      ...{ text: textField(bubble, "rawText") ?? textField(bubble, "text") ?? "" },
    }));
    const composer = { name: tab["chatTitle"], createdAt: tab["lastSendTime"] };
    if (id !== undefined && bubbles.length > 0) yield toSession(id, composer, bubbles, problems);
  }
}

/** What a record says beside its messages, as far as it says something and is small. */
function kept(composer: Fields): JsonObject {
  const rest = otherFields(composer, ["conversation", "fullConversationHeadersOnly", "name"]);
  return Object.fromEntries(
    Object.entries(rest).filter(([, value]) => ["string", "number"].includes(typeof value)),
  );
}

function recordOf(row: Row): Record<string, unknown> | undefined {
  const { value } = row;
  const text = value instanceof Uint8Array ? Buffer.from(value).toString("utf8") : value;
  const parsed = typeof text === "string" ? parseJson(text) : undefined;
  return isPlainObject(parsed) ? parsed : undefined;
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}
