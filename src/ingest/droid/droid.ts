/**
 * Sessions of Droid, Factory's agent: JSON lines in a folder per project, and beside each file its
 * settings, with the session's total tokens. A sub-agent has its own file that names its caller.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { toImportedSession } from "../drafts.ts";
import { type Fields, otherFields, textField, timeField } from "../fields.ts";
import { firstRecord } from "../head.ts";
import { parseJson } from "../json-file.ts";
import { type JsonRecord, readRecords } from "../jsonl.ts";
import { fileName, folderOf, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import { commandFor } from "../resume-command.ts";
import { KnownSession } from "../resumed-lines.ts";
import type { ImportedEntry, ImportedSession, SourceInput, TranscriptSource } from "../source.ts";
import { DroidRecords, FORMAT } from "./droid-records.ts";

/** The header has no time: one of these records has. */
const LOOKED_AT = 16;

const OWN_FOLDER = /[/\\]\.factory[/\\]sessions[/\\]/;

const MAX_SETTINGS_BYTES = 256 * 1024;

export const DROID: TranscriptSource = {
  name: FORMAT,

  places: (environment) => [
    {
      // The variable names another home, not the folder itself.
      root: joinPath(
        folderOf(environment, "FACTORY_HOME_OVERRIDE", environment.home),
        ".factory/sessions",
      ),
      matches: (path) => /^([^/]+\/)?[^/]+\.jsonl$/.test(path),
      skips: (path) => path.includes("/"),
    },
  ],

  recognise(head, path) {
    const first = firstRecord(head);
    if (first?.["type"] !== "session_start") return false;
    // Every other field of the header is optional: in its own folder the file is Droid's without them.
    if (OWN_FOLDER.test(path)) return true;
    if (textField(first, "id") === undefined) return false;
    return ["title", "owner", "hostId", "sessionTitle"].some((name) => name in first);
  },

  read(input) {
    const problems = new ProblemLog();
    const records = new DroidRecords(problems, input.resume);
    const known = new KnownSession(input.resume, records);
    async function* sessions(): AsyncGenerator<ImportedSession> {
      const rest = readRecords(known.lines.read(input.lines), problems);
      const first: JsonRecord[] = [];
      while (first.length < LOOKED_AT && !first.some(({ record }) => "timestamp" in record)) {
        const { value, done } = await rest.next();
        if (done) break;
        first.push(value);
      }
      if (first.length === 0) return;
      if (known.isNew) known.fields = describe(first, problems);
      async function* entries(): AsyncGenerator<ImportedEntry> {
        for (const { record, line } of first) yield* records.read(record, line);
        for await (const { record, line } of rest) yield* records.read(record, line);
      }
      yield {
        ...toSession(known.fields, await readSettings(input), input.path),
        entries: entries(),
        problems,
      };
    }
    return {
      sessions: sessions(),
      problems,
      state: () => known.lines.state(),
      isLost: () => records.isLost,
    };
  },

  resumeCommand: ({ id }) => commandFor("droid --resume ", id),
};

function describe(first: readonly JsonRecord[], problems: ProblemLog): Fields {
  const header = first.find(({ record }) => record["type"] === "session_start")?.record;
  if (header === undefined) {
    problems.add("missing_header", "the file begins without the session's line", first[0]?.line);
  }
  const times = first.map(({ record }) => timeField(record, "timestamp"));
  const at = times.find((time) => time !== null) ?? null;
  return { ...otherFields(header ?? {}, ["type"]), startedAt: at };
}

/** Reads the optional settings beside the transcript. */
async function readSettings({ path, files }: SourceInput): Promise<JsonObject> {
  const name = fileName(path).replace(/\.jsonl$/, ".settings.json");
  const text = await files?.readText(name, MAX_SETTINGS_BYTES);
  const value = text === undefined ? undefined : parseJson(text);
  return isPlainObject(value) ? otherFields(value, []) : {};
}

function toSession(
  known: Fields,
  settings: JsonObject,
  path: string,
): ReturnType<typeof toImportedSession> {
  const text = (name: string) => textField(known, name) || undefined;
  const stem = fileName(path).replace(/\.jsonl$/, "");
  const own = [
    "id",
    "sessionId",
    "title",
    "sessionTitle",
    "cwd",
    "startedAt",
    "callingSessionId",
    "parent",
  ];
  const fields = otherFields(known, own);
  const isNone = Object.keys(settings).length === 0;
  return toImportedSession(FORMAT, {
    id: text("id") ?? text("sessionId") ?? (stem === "" ? null : stem),
    title: text("sessionTitle") ?? text("title") ?? null,
    cwd: text("cwd") ?? null,
    startedAt: timeField(known, "startedAt"),
    parentSession: text("callingSessionId") ?? text("parent") ?? null,
    fields: isNone ? fields : { ...fields, settings },
  });
}
