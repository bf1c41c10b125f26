/**
 * Sessions of crabtalk: JSON lines with a header; or a folder per session with the header in a file
 * `meta` and a file per step.
 *
 * `topic` and `uptime_secs` of older files are ignored.
 */

import type { Block } from "../../model/block.ts";
import { ROLES } from "../../model/entry.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../../model/json.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { KEPT_CALLS } from "../batches.ts";
import { type EntryDraft, toImportedEntry, toImportedSession } from "../drafts.ts";
import {
  type Fields,
  objectField,
  otherFields,
  resultBlock,
  textField,
  timeField,
} from "../fields.ts";
import { firstRecord } from "../head.ts";
import { parseJson } from "../json-file.ts";
import { type JsonRecord, ResumedLines, readRecords } from "../jsonl.ts";
import { cutRecord } from "../long/long-line.ts";
import { fileName, folderName, folderOf, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession, SourceInput, TranscriptSource } from "../source.ts";

const FORMAT = "crabtalk";

export const CRABTALK: TranscriptSource = {
  name: FORMAT,

  places(environment) {
    const own = folderOf(environment, "CRABTALK_HOME", joinPath(environment.home, ".crabtalk"));
    const matches = (path: string) => path.endsWith(".jsonl") || /(^|\/)meta$/.test(path);
    const ownerOf = async (path: string) =>
      isStep(fileName(path)) ? path.replace(/[^/]+$/, "meta") : undefined;
    const matchesPart = (path: string) => isStep(fileName(path));
    return [{ root: joinPath(own, "sessions"), matches, matchesPart, parts: { ownerOf } }];
  },

  companions: (path) => (fileName(path) === "meta" ? [{ folder: ".", matches: isStep }] : []),

  recognise(head) {
    const first = firstRecord(head);
    return first !== undefined && isMeta(first);
  },

  read(input) {
    const problems = new ProblemLog();
    const kept = input.resume?.["meta"];
    let meta: Fields = isPlainObject(kept) ? kept : {};
    const names = new RecentMap<string, string>(
      KEPT_CALLS,
      Array.isArray(input.resume?.["names"])
        ? (input.resume["names"] as unknown as [string, string][])
        : [],
    );
    const lines = new ResumedLines(() => ({
      meta: meta as JsonObject,
      names: [...names].slice(-100) as unknown as JsonValue,
    }));
    async function* sessions(): AsyncGenerator<ImportedSession> {
      const records = readRecords(lines.read(input.lines), problems);
      const { value: first, done } = await records.next();
      if (done) return;
      const isHeader = isMeta(first.record);
      if (Object.keys(meta).length === 0) {
        if (!isHeader) {
          problems.add("missing_header", "the file begins without the session's line", first.line);
        }
        meta = isHeader ? first.record : { created_at: null };
      }
      async function* entries(): AsyncGenerator<ImportedEntry> {
        const rest = chain(isHeader ? undefined : first, records, input, problems);
        for await (const { record, line } of rest) {
          yield toEntry(record, line, names, textField(meta, "agent"), problems);
        }
      }
      yield { ...toSession(meta, input.path), entries: entries(), problems };
    }
    // Steps are separate files, so there is no offset to resume from.
    const isFolder = fileName(input.path) === "meta";
    return { sessions: sessions(), problems, state: () => (isFolder ? undefined : lines.state()) };
  },
};

function isStep(name: string): boolean {
  return /^step-\d+$/.test(name);
}

function isMeta(record: Fields): boolean {
  return ["agent", "created_by", "created_at"].every((name) => typeof record[name] === "string");
}

function toSession(meta: Fields, path: string): Omit<ImportedSession, "entries" | "problems"> {
  const name = fileName(path);
  const id = name === "meta" ? folderName(path) : name.replace(/\.jsonl$/, "");
  const known = ["title", "created_at", "topic", "uptime_secs"];
  return toImportedSession(FORMAT, {
    id: id === "" ? null : id,
    title: textField(meta, "title") || null,
    cwd: textField(meta, "root") || null,
    startedAt: timeField(meta, "created_at"),
    ...presentText({ agent: textField(meta, "agent"), createdBy: textField(meta, "created_by") }),
    fields: otherFields(meta, known),
  });
}

/** Names given by the file. */
function presentText(
  names: Readonly<Record<"agent" | "createdBy", string | undefined>>,
): Partial<Record<"agent" | "createdBy", string>> {
  return Object.fromEntries(Object.entries(names).filter(([, name]) => name?.trim()));
}

/** The lines after the first, or the steps beside it. */
async function* chain(
  first: JsonRecord | undefined,
  records: AsyncIterable<JsonRecord>,
  { path, files }: SourceInput,
  problems: ProblemLog,
): AsyncGenerator<JsonRecord> {
  if (first !== undefined) yield first;
  yield* records;
  if (fileName(path) !== "meta" || files === undefined) return;
  const steps = (await files.list(".")).filter(isStep);
  for (const name of steps) {
    const read = await files.readRecord(name);
    const value = read === undefined ? undefined : parseJson(cutRecord(read.text, name, problems));
    if (read?.isCut) problems.add("line_cut", `${name} is longer than 1 MB; long values were cut`);
    // Numbered like lines, `meta` being the first.
    const line = Number(name.slice("step-".length)) + 1;
    if (isPlainObject(value)) yield { line, length: read?.text.length ?? 0, record: value };
    else problems.add("not_json", `${name} is not a JSON object, or too large`);
  }
}

function toEntry(
  record: Fields,
  line: number,
  names: RecentMap<string, string>,
  agent: string | undefined,
  problems: ProblemLog,
): ImportedEntry {
  const sourceId = `line-${line}`;
  const draft = toMessage(record, names, agent);
  if (draft !== undefined) return toImportedEntry(FORMAT, { sourceId, id: null, ...draft });
  const keys = Object.keys(record).slice(0, 5).join(", ") || "nothing";
  problems.add("unexpected", `a line with ${keys} was kept as custom data`, line);
  const data = { type: `${FORMAT}:line`, data: otherFields(record, []) };
  return toImportedEntry(FORMAT, { sourceId, id: null, kind: "custom", data });
}

/** Undefined if the line is neither. `names` maps calls to tool names. */
function toMessage(
  record: Fields,
  names: RecentMap<string, string>,
  agent: string | undefined,
): Omit<EntryDraft, "sourceId"> | undefined {
  const archive = textField(record, "compact") ?? textField(record, "archive");
  const role = ROLES.find((known) => known === record["role"]);
  if (role === undefined) {
    // The marker names the summary; its text is in the agent's memory.
    return archive === undefined ? undefined : toCompaction(archive, record);
  }
  const content = textField(record, "content") ?? "";
  const thought = textField(record, "reasoning_content") ?? "";
  const calls = Array.isArray(record["tool_calls"]) ? record["tool_calls"] : [];
  const known = [
    "role",
    "content",
    "reasoning_content",
    "tool_calls",
    "tool_call_id",
    "timestamp",
    "created_at",
    "sender",
  ];
  const base = {
    kind: "message",
    createdAt: timeField(record, "timestamp") ?? timeField(record, "created_at"),
    fields: otherFields(record, known),
  } as const;
  if (role === "tool") {
    const toolUseId = textField(record, "tool_call_id") ?? "";
    const name = textField(record, "name") ?? names.get(toolUseId);
    names.delete(toolUseId);
    const blocks = [resultBlock(toolUseId, name, content, false)];
    return { ...base, role, actor: name ?? null, blocks };
  }
  const blocks: Block[] = [
    ...(thought === "" ? [] : [{ type: "thinking" as const, text: thought }]),
    ...(content === "" ? [] : [{ type: "text" as const, text: content }]),
    ...calls.flatMap((call) => toCall(call, names)),
  ];
  const sender = textField(record, "sender") || null;
  return { ...base, role, actor: role === "assistant" ? (agent ?? FORMAT) : sender, blocks };
}

function toCompaction(archive: string, record: Fields): Omit<EntryDraft, "sourceId"> {
  return {
    kind: "compaction",
    blocks: [{ type: "text", text: `[archived context: ${archive}]` }],
    data: { firstKeptEntryId: null, tokensBefore: null, archive },
    createdAt: timeField(record, "timestamp"),
    fields: otherFields(record, ["compact", "archive", "timestamp"]),
  };
}

function toCall(call: unknown, names: RecentMap<string, string>): Block[] {
  const fields: Fields = isPlainObject(call) ? call : {};
  const inner = objectField(fields, "function");
  const id = textField(fields, "id");
  const name = textField(inner, "name");
  if (id === undefined || name === undefined) {
    return [{ type: "opaque", provider: FORMAT, json: JSON.stringify(call) }];
  }
  names.set(id, name);
  const input = inner["arguments"];
  return [
    {
      type: "tool_use",
      id,
      name,
      input: typeof input === "string" ? input : JSON.stringify(input ?? {}),
    },
  ];
}
