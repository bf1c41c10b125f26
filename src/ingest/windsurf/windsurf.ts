/**
 * Transcripts that Windsurf's agent Cascade writes for hooks: JSON lines, a step each, with a field of
 * the step's type.
 *
 * The format has no public description: taken from a file in git-ai-project/git-ai
 * (`tests/fixtures/windsurf-session-simple.jsonl`). Steps have no ids and no times: content and number
 * of occurrences identify them.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import {
  ContentIds,
  toCustomEntry,
  toImportedEntry,
  toImportedSession,
  toTranscript,
} from "../drafts.ts";
import {
  type Fields,
  nameOf,
  objectField,
  otherFields,
  resultBlock,
  textField,
} from "../fields.ts";
import { recordsOfHead } from "../head.ts";
import { type JsonRecord, readRecords } from "../jsonl.ts";
import { fileName, joinPath } from "../machine-paths.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry, TranscriptSource } from "../source.ts";

const FORMAT = "windsurf";

/** Records in which the folder is looked for: those of commands name it. */
const LOOKED_AT = 200;

export const WINDSURF: TranscriptSource = {
  name: FORMAT,

  places: ({ home }) => [
    {
      root: joinPath(home, ".windsurf/transcripts"),
      matches: (path) => /^[^/]+\.jsonl$/.test(path),
      skips: () => true,
    },
  ],

  recognise(head) {
    for (const record of recordsOfHead(head)) return isStep(record);
    return false;
  },

  read: (input) =>
    toTranscript(async function* (problems) {
      const rest = readRecords(input.lines, problems);
      const first: JsonRecord[] = [];
      let cwd: string | undefined;
      while (first.length < LOOKED_AT && cwd === undefined) {
        const { value, done } = await rest.next();
        if (done) break;
        first.push(value);
        cwd = textField(objectField(value.record, "run_command"), "cwd");
      }
      async function* entries(): AsyncGenerator<ImportedEntry> {
        const steps = new Steps(problems);
        for (const { record, line } of first) yield* steps.read(record, line);
        for await (const { record, line } of rest) yield* steps.read(record, line);
      }
      const name = fileName(input.path);
      const startedAt = (await input.files?.modifiedAt(name)) ?? null;
      const id = name.replace(/\.jsonl$/, "") || null;
      yield {
        ...toImportedSession(FORMAT, { id, cwd: cwd ?? null }),
        // The mtime is the only known time.
        ...(startedAt === null ? {} : { startedAt: Math.floor(startedAt) }),
        entries: entries(),
        problems,
      };
    }),
};

function isStep(record: Fields): boolean {
  const { type, status } = record;
  return typeof type === "string" && typeof status === "string" && isPlainObject(record[type]);
}

/** What came of a step, beside what it was asked to do. */
const OUTCOME = [
  "output",
  "content",
  "exit_code",
  "user_rejected",
  "total_results",
  "acknowledgement_type",
];

class Steps {
  readonly #problems: ProblemLog;
  readonly #ids = new ContentIds();

  constructor(problems: ProblemLog) {
    this.#problems = problems;
  }

  *read(record: Fields, line: number): Generator<ImportedEntry> {
    // A step that was still at work is another one when it is done.
    const sourceId = this.#ids.next(JSON.stringify(record));
    const type = nameOf(record["type"]);
    if (!isStep(record)) {
      this.#problems.add("unexpected", `a step of the type ${type} was kept as custom data`, line);
      yield toCustomEntry(FORMAT, sourceId, "step", otherFields(record, []), null);
      return;
    }
    const step = objectField(record, type);
    const base = { sourceId, id: null, kind: "message" } as const;
    const assistant = { role: "assistant", actor: FORMAT } as const;
    if (type === "user_input" || type === "planner_response") {
      const name = type === "user_input" ? "user_response" : "response";
      const blocks = [{ type: "text" as const, text: textField(step, name) ?? "" }];
      const fields = otherFields(step, [name]);
      const who = type === "user_input" ? ({ role: "user" } as const) : assistant;
      yield toImportedEntry(FORMAT, { ...base, ...who, blocks, fields });
      return;
    }
    const id = `call-${sourceId}`;
    const input = JSON.stringify(otherFields(step, OUTCOME));
    const call = { type: "tool_use" as const, id, name: type, input };
    yield toImportedEntry(FORMAT, { ...base, ...assistant, blocks: [call] });
    const asked = Object.keys(step).filter((name) => !OUTCOME.includes(name));
    const outcome = otherFields(step, asked);
    if (Object.keys(outcome).length === 0) return;
    const result = resultBlock(id, type, outputOf(outcome), isFailed(outcome));
    const told = { role: "tool", actor: type, blocks: [result] } as const;
    yield toImportedEntry(FORMAT, { ...base, ...told, sourceId: `${sourceId}-result` });
  }
}

/** The text of an outcome that has one, else its fields. */
function outputOf(outcome: JsonObject): string {
  return textField(outcome, "output") ?? textField(outcome, "content") ?? JSON.stringify(outcome);
}

function isFailed({ exit_code: code, user_rejected: rejected }: JsonObject): boolean {
  return rejected === true || (typeof code === "number" && code !== 0);
}
