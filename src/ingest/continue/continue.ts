/**
 * Sessions of Continue, of its extensions and its command line: one JSON object each, and a list of
 * all with their start times.
 *
 * Messages have no ids and times: number and content make an id. A session reset to an earlier
 * message has other messages under the same numbers, which are a branch.
 */

import { isPlainObject } from "../../model/json.ts";
import { sha256, toHex } from "../../transcript/hash.ts";
import { type JsonDocument, readDocument } from "../document/json-document.ts";
import { KnownIds, toImportedEntry, toImportedSession, toTranscript } from "../drafts.ts";
import {
  type Fields,
  objectField,
  objectsIn,
  otherFields,
  textField,
  timeField,
} from "../fields.ts";
import { textOfHead } from "../head.ts";
import { parseJson } from "../json-file.ts";
import { fileName, folderOf, joinPath } from "../machine-paths.ts";
import type { ProblemLog } from "../problems.ts";
import { commandFor } from "../resume-command.ts";
import type { FileAccess, ImportedEntry, TranscriptSource } from "../source.ts";
import { FORMAT, toDrafts } from "./continue-items.ts";

const LIST = "sessions.json";
const MAX_LIST_BYTES = 8 * 1024 * 1024;

export const CONTINUE: TranscriptSource = {
  name: FORMAT,

  places(environment) {
    const own = folderOf(
      environment,
      "CONTINUE_GLOBAL_DIR",
      joinPath(environment.home, ".continue"),
    );
    const matches = (path: string) => /^[^/]+\.json$/.test(path) && path !== LIST;
    return [{ root: joinPath(own, "sessions"), matches, skips: () => true }];
  },

  recognise(head) {
    const text = textOfHead(head);
    if (!/^\s*\{/.test(text) || !/"history"\s*:\s*\[/.test(text)) return false;
    if (/"workspaceDirectory"\s*:/.test(text)) return true;
    return /"message"\s*:\s*\{/.test(text) && /"(contextItems|editorState)"\s*:/.test(text);
  },

  isText: () => true,

  read: (input) =>
    toTranscript(async function* (problems) {
      const document = await readDocument(input, "history", problems);
      if (document === undefined) return;
      const { frame } = document;
      if (!isPlainObject(frame) || !Array.isArray(frame["history"])) {
        problems.add("unexpected", "the file is JSON, but not a session with a history");
        return;
      }
      const stem = fileName(input.path).replace(/\.json$/, "");
      const id = textField(frame, "sessionId") ?? (stem === "" ? null : stem);
      const cwd = textField(frame, "workspaceDirectory") || null;
      yield {
        ...toImportedSession(FORMAT, {
          id,
          title: textField(frame, "title") || null,
          cwd: cwd === null ? null : pathOf(cwd),
          startedAt: await startOf(input.files, id, fileName(input.path)),
          fields: otherFields(frame, ["sessionId", "title", "workspaceDirectory", "history"]),
        }),
        entries: readItems(document, problems),
        problems,
      };
    }),

  resumeCommand: ({ id }) => commandFor("cn --fork ", id),
};

async function* readItems(
  document: JsonDocument,
  problems: ProblemLog,
): AsyncGenerator<ImportedEntry> {
  const ids = new KnownIds(problems);
  const answered = new Set<string>();
  let parent: string | null = null;
  let number = -1;
  for await (const item of document.elements(problems)) {
    number++;
    if (item === undefined) continue;
    const drafts = isPlainObject(item) ? toDrafts(item, idOf(item, number), answered) : undefined;
    if (drafts === undefined) {
      problems.add("unexpected", `item ${number + 1} has no known role, and was left out`);
      continue;
    }
    for (const draft of drafts) {
      if (!ids.isNew(draft.sourceId, draft)) continue;
      yield toImportedEntry(FORMAT, { ...draft, parentSourceId: parent });
      parent = draft.sourceId;
    }
  }
}

function idOf(item: Fields, number: number): string {
  const message = objectField(item, "message");
  const said = [message["role"], message["content"], message["toolCalls"]];
  const hash = toHex(sha256(Buffer.from(JSON.stringify(said) ?? ""))).slice(0, 8);
  return `message-${number}-${hash}`;
}

/** Editors write a URL, the command line a path. */
function pathOf(folder: string): string {
  if (!folder.startsWith("file://")) return folder;
  try {
    return decodeURIComponent(new URL(folder).pathname);
  } catch {
    // A foreign value that only looks like a URL.
    return folder;
  }
}

/** The session's start from the list beside it, else the file's mtime. */
async function startOf(
  files: FileAccess | undefined,
  id: string | null,
  name: string,
): Promise<number | null> {
  const list = parseJson((await files?.readText(LIST, MAX_LIST_BYTES)) ?? "[]");
  const own = objectsIn(list).find((each) => each["sessionId"] === id);
  const text = textField(own ?? {}, "dateCreated") ?? "";
  const at = timeField({ at: /^\d+$/.test(text) ? Number(text) : text }, "at");
  const written = at ?? (await files?.modifiedAt(name));
  return written === undefined ? null : Math.floor(written);
}
