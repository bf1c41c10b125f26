/**
 * Chats of Qwen Code: JSON lines that name their parents, with content in the form of Gemini's API.
 * Its early versions wrote the files of Gemini CLI, in a separate folder.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { toImportedSession } from "../drafts.ts";
import { type Fields, nameOf, textField, timeField } from "../fields.ts";
import { firstRecord } from "../head.ts";
import { readRecords } from "../jsonl.ts";
import { fileName, folderOf, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import { commandFor } from "../resume-command.ts";
import { KnownSession } from "../resumed-lines.ts";
import type { ImportedEntry, ImportedSession, TranscriptSource } from "../source.ts";
import { FORMAT, QwenRecords } from "./qwen-records.ts";

export const QWEN_CODE: TranscriptSource = {
  name: FORMAT,

  places(environment) {
    const own = folderOf(environment, "QWEN_HOME", joinPath(environment.home, ".qwen"));
    const matches = (path: string) => /^[^/]+\/chats\/[^/]+\.jsonl$/.test(path);
    return [{ root: joinPath(own, "projects"), matches }];
  },

  recognise(head) {
    const first = firstRecord(head);
    return first !== undefined && isRecord(first);
  },

  read(input) {
    const problems = new ProblemLog();
    const records = new QwenRecords(problems, input.resume);
    const known = new KnownSession(input.resume, records);
    async function* sessions(): AsyncGenerator<ImportedSession> {
      const rest = readRecords(known.lines.read(input.lines), problems);
      const { value: first, done } = await rest.next();
      if (done) return;
      if (known.isNew) known.fields = describe(first.record);
      async function* entries(): AsyncGenerator<ImportedEntry> {
        if (first !== undefined) yield* records.read(first.record, first.line);
        for await (const { record, line } of rest) yield* records.read(record, line);
      }
      const stem = fileName(input.path).replace(/\.jsonl$/, "");
      const { version } = known.fields;
      const session = toImportedSession(FORMAT, {
        id: textField(known.fields, "id") ?? (stem === "" ? null : stem),
        cwd: textField(known.fields, "cwd") || null,
        gitBranch: textField(known.fields, "gitBranch") || null,
        startedAt: timeField(known.fields, "at"),
        fields: version === null ? {} : { version: nameOf(version) },
      });
      yield { ...session, entries: entries(), problems };
    }
    return { sessions: sessions(), problems, state: () => known.lines.state() };
  },

  resumeCommand: ({ id }) => commandFor("qwen --resume ", id),
};

function isRecord(record: Fields): boolean {
  const { message, systemPayload } = record;
  const hasIds = typeof record["uuid"] === "string" && typeof record["sessionId"] === "string";
  const isMessage = isPlainObject(message) && Array.isArray(message["parts"]);
  return hasIds && (isMessage || isPlainObject(systemPayload));
}

/** Each line has the session's fields: the first counts. */
function describe(record: Fields): JsonObject {
  return {
    id: textField(record, "sessionId") ?? null,
    cwd: textField(record, "cwd") ?? null,
    gitBranch: textField(record, "gitBranch") ?? null,
    version: textField(record, "version") ?? null,
    at: timeField(record, "timestamp"),
  };
}
