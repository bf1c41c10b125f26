/**
 * Conversations of OpenHands: a folder each with `base_state.json`, and a file per event in
 * `events`; before version 1.0, only the events; or the events as JSON lines. Sub-agents have their
 * own folders in `subagents`.
 */

import { defined } from "../../model/defined.ts";
import { isPlainObject } from "../../model/json.ts";
import { toImportedSession, toTranscript } from "../drafts.ts";
import { type Fields, objectField, textField, timeField } from "../fields.ts";
import { firstRecord, textOfHead } from "../head.ts";
import { joinLines, parseJson } from "../json-file.ts";
import { type JsonRecord, readRecords } from "../jsonl.ts";
import { cutRecord } from "../long/long-line.ts";
import { commandFor, fileName, folderName, folderOf, joinPath } from "../machine-paths.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry, SourceInput, TranscriptSource } from "../source.ts";
import { FORMAT, isLegacy, modelOf, OpenHandsEvents } from "./openhands-events.ts";

const STATE = "base_state.json";
const EVENTS = "events";

/** Before version 1.0 this is the only file of every conversation. */
const FIRST = "0.json";

export const OPENHANDS: TranscriptSource = {
  name: FORMAT,

  places(environment) {
    const own = folderOf(
      environment,
      "OPENHANDS_PERSISTENCE_DIR",
      joinPath(environment.home, ".openhands"),
    );
    return [
      {
        root: folderOf(environment, "OPENHANDS_CONVERSATIONS_DIR", joinPath(own, "conversations")),
        matches: (path) => fileName(path) === STATE,
        matchesPart: (path) => folderName(path) === EVENTS && isEvent(fileName(path)),
        skips: (path) => fileName(path) === EVENTS,
        parts: {
          isIn: (folder) => fileName(folder) === EVENTS,
          ownerOf: async (path) =>
            isEvent(fileName(path)) && folderName(path) === EVENTS
              ? path.replace(/events\/[^/]+$/, STATE)
              : undefined,
        },
      },
      {
        root: joinPath(own, "sessions"),
        matches: (path) => /^[^/]+\/events\/0\.json$/.test(path),
        matchesPart: (path) => /^[^/]+\/(events\/\d+|metadata)\.json$/.test(path),
        skips: (path) => !/^[^/]+(\/events)?$/.test(path),
        parts: {
          ownerOf: async (path) =>
            /^[^/]+\/events\/\d+\.json$/.test(path)
              ? path.replace(/(?<!\d)\d+\.json$/, FIRST)
              : undefined,
        },
      },
    ];
  },

  companions(path) {
    if (fileName(path) === STATE) return [{ folder: EVENTS, matches: isEvent }];
    return isFirst(path) ? [{ folder: ".", matches: isOldEvent }] : [];
  },

  recognise(head, path) {
    const text = textOfHead(head);
    if (fileName(path) === STATE) {
      return /"(workspace|persistence_dir|execution_status|agent)"/.test(text);
    }
    if (isFirst(path)) return /"source"/.test(text) && /"(action|observation)"/.test(text);
    // In a named folder every file is checked, and an event alone would become a session.
    if (isPart(path)) return false;
    const first = firstRecord(head);
    if (first === undefined || textField(first, "source") === undefined) return false;
    if (isLegacy(first)) return "timestamp" in first && ("args" in first || "extras" in first);
    return /^([A-Z]\w+Event|Condensation|UserRejectObservation)$/.test(
      textField(first, "kind") ?? "",
    );
  },

  isText: (path) => fileName(path) === STATE || isFirst(path),

  read: (input) =>
    toTranscript(async function* (problems) {
      const state = fileName(input.path) === STATE ? await readState(input, problems) : {};
      const records = recordsOf(input, problems);
      const { value: first, done } = await records.next();
      if (done) return;
      const events = new OpenHandsEvents(state, problems);
      async function* entries(): AsyncGenerator<ImportedEntry> {
        if (first !== undefined) yield* events.read(first.record, first.line);
        for await (const { record, line } of records) yield* events.read(record, line);
      }
      const startedAt = timeField(first.record, "timestamp");
      const session = toSession(state, input.path, startedAt);
      yield { ...session, title: await titleOf(input), entries: entries(), problems };
    }),

  resumeCommand: ({ id }) => commandFor("openhands --resume ", id),
};

function recordsOf(input: SourceInput, problems: ProblemLog): AsyncGenerator<JsonRecord> {
  if (fileName(input.path) === STATE) return readFiles(input, EVENTS, isEvent, problems);
  if (isFirst(input.path)) return readFiles(input, ".", isOldEvent, problems);
  return readRecords(input.lines, problems);
}

function isEvent(name: string): boolean {
  return /^event-\d.*\.json$/.test(name);
}

function isOldEvent(name: string): boolean {
  return /^\d+\.json$/.test(name);
}

function isFirst(path: string): boolean {
  return fileName(path) === FIRST && folderName(path) === EVENTS;
}

/** An event's file, which is read with the conversation's state or first event. */
function isPart(path: string): boolean {
  const name = fileName(path);
  return folderName(path) === EVENTS && (isEvent(name) || isOldEvent(name)) && !isFirst(path);
}

const MAX_METADATA_BYTES = 1024 * 1024;

/** The server of the older versions gives conversations titles. */
async function titleOf({ path, files }: SourceInput): Promise<string | null> {
  if (!isFirst(path)) return null;
  const text = await files?.readText("../metadata.json", MAX_METADATA_BYTES);
  const value = parseJson(text ?? "null");
  return isPlainObject(value) ? textField(value, "title") || null : null;
}

async function readState(input: SourceInput, problems: ProblemLog): Promise<Fields> {
  const value = parseJson((await joinLines(input.lines, problems)) ?? "");
  if (isPlainObject(value)) return value;
  problems.add("not_json", `${STATE} is not a JSON object; the events are read without it`);
  return {};
}

/** The events by number, as if each were a line. */
async function* readFiles(
  { files }: SourceInput,
  folder: string,
  matches: (name: string) => boolean,
  problems: ProblemLog,
): AsyncGenerator<JsonRecord, undefined> {
  const names = ((await files?.list(folder)) ?? []).filter(matches);
  const numbered = names.map((name) => [Number(/\d+/.exec(name)?.[0]), name] as const);
  for (const [number, name] of numbered.sort(([a], [b]) => a - b)) {
    const read = await files?.readRecord(joinPath(folder, name));
    const value = read === undefined ? undefined : parseJson(cutRecord(read.text, name, problems));
    if (read?.isCut) problems.add("line_cut", `${name} is longer than 1 MB; long values were cut`);
    if (isPlainObject(value)) {
      yield { line: number + 1, length: read?.text.length ?? 0, record: value };
    } else problems.add("not_json", `${name} is not a JSON object, or too large`);
  }
  return undefined;
}

function toSession(
  state: Fields,
  path: string,
  startedAt: number | null,
): ReturnType<typeof toImportedSession> {
  const workspace = objectField(state, "workspace");
  const isFolder = fileName(path) === STATE;
  const folder = isFolder ? folderName(path) : isFirst(path) ? folderName(path, 2) : undefined;
  const name = folder ?? fileName(path).replace(/\.jsonl$/, "");
  const status = textField(state, "execution_status");
  const model = modelOf(state);
  return toImportedSession(FORMAT, {
    id: textField(state, "id") ?? (name === "" ? null : name),
    cwd: textField(workspace, "working_dir") || null,
    startedAt,
    parentSession: parentOf(path),
    // The agent's settings hold keys, so they are dropped.
    fields: {
      ...defined({ execution_status: status, model }),
    },
  });
}

/** A sub-agent's folder lies in its caller's, which is named by the id without dashes. */
function parentOf(path: string): string | null {
  const [, name] = /[/\\]([^/\\]+)[/\\]subagents[/\\][^/\\]+[/\\][^/\\]+$/.exec(path) ?? [];
  if (name === undefined) return null;
  return name.replace(/^(\w{8})(\w{4})(\w{4})(\w{4})(\w{12})$/, "$1-$2-$3-$4-$5");
}
