/**
 * Tasks of Cline, and of Roo Code, its fork: the messages sent to the model in one JSON file, with
 * the editor's view and the task's usage beside it.
 */

import { isPlainObject } from "../../model/json.ts";
import { readDocument } from "../document/json-document.ts";
import { toImportedSession } from "../drafts.ts";
import { type Fields, otherFields, textField, timeField } from "../fields.ts";
import { textOfHead } from "../head.ts";
import { parseJson } from "../json-file.ts";
import { applicationFolder, fileName, folderName, folderOf, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import { Slots } from "../slots.ts";
import type {
  Environment,
  FileAccess,
  ImportedSession,
  Place,
  SourceInput,
  TranscriptSource,
} from "../source.ts";
import { readMessages } from "./cline-messages.ts";
import { readShown, type Shown } from "./cline-usage.ts";

const HISTORY = "api_conversation_history.json";

export const CLINE: TranscriptSource = {
  name: "cline",

  places(environment) {
    const own = folderOf(environment, "CLINE_DIR", joinPath(environment.home, ".cline"));
    return [
      ...inEditors(environment, "saoudrizwan.claude-dev"),
      {
        root: joinPath(own, "data"),
        matches: (path) => isTask(path) || /^sessions\/[^/]+\/[^/]+\.messages\.json$/.test(path),
        skips: (path) => !/^(tasks|sessions)(\/[^/]+)?$/.test(path),
      },
    ];
  },

  recognise(head, path) {
    return isHistory(head, path) && !isRoo(path);
  },

  isText: () => true,
  read: (input) => read(input, "cline"),
};

export const ROO_CODE: TranscriptSource = {
  name: "roo-code",
  places: (environment) => inEditors(environment, "rooveterinaryinc.roo-cline"),
  recognise: (head, path) => isHistory(head, path) && isRoo(path),
  isText: () => true,
  read: (input) => read(input, "roo-code"),
};

/** Editors with the extension, and the folder of a remote one. */
function inEditors(environment: Environment, extension: string): Place[] {
  const applications = applicationFolder(environment);
  const editors = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];
  const roots = [
    ...editors.map((name) => joinPath(applications, name)),
    joinPath(environment.home, ".vscode-server/data"),
  ];
  return roots.map((root) => ({
    root: joinPath(root, "User/globalStorage", extension),
    matches: isTask,
    skips: (path) => !/^tasks(\/[^/]+)?$/.test(path),
  }));
}

function isTask(path: string): boolean {
  return /^tasks\/[^/]+\/api_conversation_history\.json$/.test(path);
}

/** Many programs write a list of messages: the file's name decides, or Cline's own tags. */
function isHistory(head: Uint8Array, path: string): boolean {
  const text = textOfHead(head);
  const isList = /^\s*(\{[^[]{0,500}"messages"\s*:\s*)?\[\s*(\{|\])/.test(text);
  const name = plainName(path);
  if (name === HISTORY) return /^\s*\[/.test(text);
  if (/\.messages\.json$/.test(name)) return isList && /"role"\s*:/.test(text);
  return isList && /"role"\s*:/.test(text) && /<(environment_details|task)>/.test(text);
}

/** All tasks' files have the same name, compressed or not. */
function plainName(path: string): string {
  return fileName(path).replace(/\.(gz|zst)$/i, "");
}

function isRoo(path: string): boolean {
  return /roo-cline|roo-code/i.test(path);
}

function read(input: SourceInput, format: string): ReturnType<TranscriptSource["read"]> {
  const problems = new ProblemLog();
  async function* sessions(): AsyncGenerator<ImportedSession> {
    const document = await readDocument(input, "messages", problems);
    if (document === undefined) return;
    const { frame } = document;
    if (!Array.isArray(isPlainObject(frame) ? frame["messages"] : frame)) {
      problems.add("unexpected", "the file is JSON, but not a list of messages");
      return;
    }
    // Damage is reported when the file itself is read.
    const first = await firstOf(document.elements(new ProblemLog()));
    const { item, shown } = await BESIDE.take(() => readBeside(input.files));
    const session = describe(input.path, format, first, item, shown.first);
    const messages = document.elements(problems);
    yield { ...session, entries: readMessages(messages, shown.calls, format, problems), problems };
  }
  return { sessions: sessions(), problems };
}

async function firstOf(messages: AsyncIterable<unknown>): Promise<unknown> {
  for await (const message of messages) return message;
  return undefined;
}

function describe(
  path: string,
  format: string,
  firstMessage: unknown,
  item: Fields,
  firstShown: Fields,
): Omit<ImportedSession, "entries" | "problems"> {
  const name = plainName(path);
  const stem = name === HISTORY ? folderName(path) : name.replace(/(\.messages)?\.json$/, "");
  const id = textField(item, "id") ?? (stem === "" ? null : stem);
  const start = JSON.stringify(firstMessage ?? "");
  const [, folder] =
    /Current (?:Workspace|Working) Directory \(((?:[^()"\\]|\\\\)+)\)/.exec(start) ?? [];
  const started = /^\d{13}$/.test(id ?? "") ? Number(id) : null;
  return toImportedSession(format, {
    id,
    title: textField(item, "task") ?? textField(firstShown, "text") ?? null,
    cwd: textField(item, "workspace") ?? folder?.replaceAll("\\\\", "\\") ?? null,
    startedAt: started ?? timeField(firstShown, "ts") ?? timeField(item, "ts"),
    parentSession: textField(item, "parentTaskId") ?? null,
    fields: otherFields(item, ["id", "task", "workspace"]),
  });
}

/** Many tasks are read concurrently, and a small one may have a large companion file. */
const BESIDE = new Slots(1);

const MAX_BESIDE_BYTES = 16 * 1024 * 1024;

/** Reads the optional files beside the messages. */
async function readBeside(
  files: FileAccess | undefined,
): Promise<{ readonly item: Fields; readonly shown: Shown }> {
  const read = (name: string) => files?.readBytes(name, MAX_BESIDE_BYTES);
  const item = parseBytes(await read("history_item.json"));
  const metadata = parseBytes(await read("task_metadata.json"));
  const shown = await readShown(await read("ui_messages.json"), metadata["model_usage"]);
  return { item, shown };
}

function parseBytes(bytes: Uint8Array | undefined): Fields {
  const value = bytes === undefined ? undefined : parseJson(new TextDecoder().decode(bytes));
  return isPlainObject(value) ? value : {};
}
