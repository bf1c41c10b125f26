/**
 * Chats of VS Code with Copilot: one JSON object each, or in newer versions its changes as JSON
 * lines, in a folder per workspace; those of windows without a folder lie elsewhere.
 */

import { isPlainObject } from "../../model/json.ts";
import { readDocument } from "../document/json-document.ts";
import { KnownIds, toImportedEntry, toImportedSession } from "../drafts.ts";
import { type Fields, otherFields, setField, textField, timeField } from "../fields.ts";
import { textOfHead } from "../head.ts";
import { parseJson } from "../json-file.ts";
import { readRecords } from "../jsonl.ts";
import { type Line, MAX_LINE_BYTES } from "../lines.ts";
import { applicationFolder, fileName, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession, SourceInput, TranscriptSource } from "../source.ts";
import { FORMAT, toDrafts } from "./chat-request.ts";

/** An answer without writes for this long is complete or abandoned. */
const QUIET_MS = 10 * 60 * 1000;

const EDITORS = ["Code", "Code - Insiders", "VSCodium"];

export const COPILOT_CHAT: TranscriptSource = {
  name: FORMAT,

  places(environment) {
    const applications = applicationFolder(environment);
    const roots = [
      ...EDITORS.map((name) => joinPath(applications, name)),
      joinPath(environment.home, ".vscode-server/data"),
    ];
    return roots.map((root) => ({
      root: joinPath(root, "User"),
      matches: (path) => CHAT.test(path),
      matchesPart: (path) => /^workspaceStorage\/[^/]+\/workspace\.json$/.test(path),
      skips: (path) => !ON_THE_WAY.test(path),
    }));
  },

  recognise(head, path) {
    const text = textOfHead(head);
    if (!/^\s*\{/.test(text)) return false;
    const isNamed = /"(requesterUsername|responderUsername|creationDate|sessionId)"\s*:/.test(text);
    if (/^\s*\{\s*"kind"\s*:\s*0\s*,\s*"v"\s*:\s*\{/.test(text)) return isNamed;
    if (/[/\\](chatSessions|emptyWindowChatSessions)[/\\]/.test(path)) return isNamed;
    return (
      isNamed && /"requests"\s*:\s*\[/.test(text) && /"(requestId|responderUsername)"/.test(text)
    );
  },

  isText: (path) => !/\.jsonl(\.(gz|zst))?$/i.test(path),

  read(input) {
    const problems = new ProblemLog();
    let isPostponed = false;
    async function* sessions(): AsyncGenerator<ImportedSession> {
      const chat = await readChat(input, problems);
      if (chat === undefined) return;
      const { frame, requests } = chat;
      const isQuiet = await hasRested(input);
      let leaf: string | undefined;
      async function* entries(): AsyncGenerator<ImportedEntry> {
        for await (const { entry, isOpen } of readRequests(requests, isQuiet, problems)) {
          if (isOpen) isPostponed = true;
          else if (entry !== undefined) {
            if (entry.kind === "message" && entry.metadata["sidechain"] !== true) {
              leaf = entry.sourceId;
            }
            yield entry;
          }
        }
      }
      const stem = fileName(input.path).replace(/\.jsonl?$/, "");
      const known = ["sessionId", "customTitle", "creationDate", "requests", ...VIEW];
      yield {
        ...toImportedSession(FORMAT, {
          id: textField(frame, "sessionId") ?? (stem === "" ? null : stem),
          title: textField(frame, "customTitle") || null,
          cwd: await folderOfChat(input),
          startedAt: timeField(frame, "creationDate"),
          fields: otherFields(frame, known),
        }),
        entries: entries(),
        leaf: () => leaf,
        problems,
      };
    }
    return { sessions: sessions(), problems, isPostponed: () => isPostponed };
  },
};

const CHAT =
  /^(workspaceStorage\/[^/]+\/chatSessions|globalStorage\/emptyWindowChatSessions)\/[^/]+\.jsonl?$/;
const ON_THE_WAY =
  /^(workspaceStorage(\/[^/]+(\/chatSessions)?)?|globalStorage(\/emptyWindowChatSessions)?)$/;

/** Fields of the editor's view. */
const VIEW = [
  "inputState",
  "pendingRequests",
  "hasPendingEdits",
  "requesterAvatarIconUri",
  "responderAvatarIconUri",
  "lastMessageDate",
  "isImported",
  "version",
  "repoData",
];

interface Chat {
  readonly frame: Fields;
  readonly requests: AsyncIterable<unknown> | Iterable<unknown>;
}

async function readChat(input: SourceInput, problems: ProblemLog): Promise<Chat | undefined> {
  const lines = input.lines[Symbol.asyncIterator]();
  const first = await lines.next();
  if (first.done) return undefined;
  const all = chain(first.value, lines);
  if (/^\s*\{\s*"kind"\s*:\s*[0-3]\b/.test(first.value.text)) {
    const frame = await replayLog(all, problems);
    const requests = frame?.["requests"];
    return frame === undefined
      ? undefined
      : { frame, requests: Array.isArray(requests) ? requests : [] };
  }
  const document = await readDocument({ ...input, lines: all }, "requests", problems);
  if (document === undefined) return undefined;
  if (isPlainObject(document.frame)) {
    return { frame: document.frame, requests: document.elements(problems) };
  }
  problems.add("unexpected", "the file is JSON, but not a chat");
  return undefined;
}

async function* chain(first: Line, rest: AsyncIterator<Line>): AsyncGenerator<Line> {
  yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

async function* readRequests(
  requests: Chat["requests"],
  isQuiet: boolean,
  problems: ProblemLog,
): AsyncGenerator<{ readonly entry?: ImportedEntry; readonly isOpen?: true }> {
  const ids = new KnownIds(problems);
  let parent: string | null = null;
  let number = 0;
  let held: { readonly request: Fields; readonly id: string } | undefined;
  const give = function* (request: Fields, id: string, isDone: boolean) {
    const drafts = toDrafts(request, id, isDone, (kind) => problems.ignore(kind));
    for (const draft of drafts) {
      if (!ids.isNew(draft.sourceId, draft)) continue;
      yield { entry: toImportedEntry(FORMAT, { parentSourceId: parent, ...draft }) };
      // A sub-agent's messages name their parents and do not move the leaf.
      if (draft.kind === "message" && draft.parentSourceId === undefined) parent = draft.sourceId;
    }
  };
  for await (const request of requests) {
    number++;
    if (held !== undefined) yield* give(held.request, held.id, true);
    held = undefined;
    if (isPlainObject(request)) {
      held = { request, id: textField(request, "requestId") ?? `request-${number}` };
    } else if (request !== undefined) {
      problems.add("unexpected", `request ${number} is not an object, and was left out`);
    }
  }
  if (held === undefined) return;
  const isDone = isQuiet || isEnded(held.request);
  yield* give(held.request, held.id, isDone);
  if (!isDone) yield { isOpen: true };
}

/** The states of an answer: 0 is pending, and 4 waits for the user. */
function isEnded(request: Fields): boolean {
  const { modelState, result, isCanceled } = request;
  if (isPlainObject(result) || isCanceled === true) return true;
  if (!isPlainObject(modelState)) return false;
  const { value } = modelState;
  return value === 1 || value === 2 || value === 3 || value === "complete";
}

async function hasRested({ files, path }: SourceInput): Promise<boolean> {
  const written = await files?.modifiedAt(fileName(path));
  return written === undefined || Date.now() - written > QUIET_MS;
}

const MAX_WORKSPACE_BYTES = 64 * 1024;

/** `workspace.json` names the folder, or the file that lists several. */
async function folderOfChat({ files }: SourceInput): Promise<string | null> {
  const text = await files?.readText("../workspace.json", MAX_WORKSPACE_BYTES);
  const value = parseJson(text ?? "null");
  const folder = isPlainObject(value) ? textField(value, "folder") : undefined;
  try {
    const { protocol, pathname } = new URL(folder ?? "");
    if (protocol !== "file:" && protocol !== "vscode-remote:") return null;
    // On Windows the path begins with a slash before the drive.
    return decodeURIComponent(pathname).replace(/^\/([A-Za-z]:)/, "$1");
  } catch {
    // No folder, or a foreign value.
    return null;
  }
}

// The newer files of VS Code's chat: the initial session, followed by changes of single values.
// Replayed, they give the object that older versions wrote whole.
//
// A change names its place by a path of keys and indexes. Places and values are untrusted: an
// invalid change is counted, and the others apply.

const INITIAL = 0;
const SET = 1;
const PUSH = 2;
const DELETE = 3;

/** Undefined, with a problem, if the file does not begin with a session, or is too long. */
async function replayLog(
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
