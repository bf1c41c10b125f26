/**
 * Sessions of crabtalk: JSON lines with a header; or a folder per session with the header in a file
 * `meta` and a file per step.
 *
 * `topic` and `uptime_secs` of older files are ignored.
 */

import { isPlainObject, type JsonObject, type JsonValue } from "../../model/json.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { toImportedEntry, toImportedSession } from "../drafts.ts";
import { type Fields, otherFields, textField, timeField } from "../fields.ts";
import { firstRecord } from "../head.ts";
import { parseJson } from "../json-file.ts";
import { type JsonRecord, readRecords } from "../jsonl.ts";
import { KEPT_CALLS } from "../kept-counts.ts";
import { cutRecord } from "../long/cut-values.ts";
import { fileName, folderName, folderOf, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import { ResumedLines } from "../resumed-lines.ts";
import type { ImportedEntry, ImportedSession, SourceInput, TranscriptSource } from "../source.ts";
import { FORMAT, toMessage } from "./crabtalk-message.ts";

export const CRABTALK: TranscriptSource = {
  name: FORMAT,

  places(environment) {
    const own = folderOf(environment, "CRABTALK_HOME", joinPath(environment.home, ".crabtalk"));
    const matches = (path: string) => path.endsWith(".jsonl") || /(^|\/)meta$/.test(path);
    const ownerOf = async (path: string) =>
      isStep(fileName(path)) ? path.replace(/[^/]+$/, "meta") : undefined;
    return [{ root: joinPath(own, "sessions"), matches, parts: { ownerOf } }];
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
