/**
 * Tasks of Cline, and of Roo Code, which came of it: the messages as they were sent to the model, in
 * one JSON file, with what the editor showed and what the task took beside it.
 */

import { isPlainObject } from "../../model/json.ts";
import { toImportedSession } from "../drafts.ts";
import { type Fields, otherFields, textField, timeField } from "../fields.ts";
import { parseJson, readJson } from "../json-file.ts";
import { applicationFolder, fileName, folderName, folderOf, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import type {
  Environment,
  FileAccess,
  ImportedSession,
  Place,
  SourceInput,
  TranscriptSource,
} from "../source.ts";
import { readMessages } from "./cline-messages.ts";
import { readCalls } from "./cline-usage.ts";

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

/** Editors that take the extension, and the folder of one that is reached over a network. */
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

/** Many programs write a list of messages: the file's name counts, or what Cline puts into them. */
function isHistory(head: Uint8Array, path: string): boolean {
  const text = new TextDecoder("utf-8").decode(head);
  const isList = /^\s*(\{[^[]{0,500}"messages"\s*:\s*)?\[\s*(\{|\])/.test(text);
  const name = fileName(path);
  if (name === HISTORY) return /^\s*\[/.test(text);
  if (/\.messages\.json$/.test(name)) return isList && /"role"\s*:/.test(text);
  return isList && /"role"\s*:/.test(text) && /<(environment_details|task)>/.test(text);
}

function isRoo(path: string): boolean {
  return /roo-cline|roo-code/i.test(path);
}

function read(input: SourceInput, format: string): ReturnType<TranscriptSource["read"]> {
  const problems = new ProblemLog();
  async function* sessions(): AsyncGenerator<ImportedSession> {
    const value = await readJson(input.lines, problems);
    if (value === undefined) return;
    const messages = isPlainObject(value) ? value["messages"] : value;
    if (!Array.isArray(messages)) {
      problems.add("unexpected", "the file is JSON, but no list of messages");
      return;
    }
    const item = await readBeside(input.files, "history_item.json");
    const shown = await readBeside(input.files, "ui_messages.json");
    const metadata = await readBeside(input.files, "task_metadata.json");
    const usage = isPlainObject(metadata) ? metadata["model_usage"] : [];
    const calls = readCalls(shown, usage);
    const session = describe(input.path, format, messages, isPlainObject(item) ? item : {}, shown);
    yield { ...session, entries: readMessages(messages, calls, format, problems), problems };
  }
  return { sessions: sessions(), problems };
}

function describe(
  path: string,
  format: string,
  messages: readonly unknown[],
  item: Fields,
  shown: unknown,
): Omit<ImportedSession, "entries" | "problems"> {
  const name = fileName(path);
  const stem = name === HISTORY ? folderName(path) : name.replace(/(\.messages)?\.json$/, "");
  const id = textField(item, "id") ?? (stem === "" ? null : stem);
  const [first] = Array.isArray(shown) ? shown.filter(isPlainObject) : [];
  const start = JSON.stringify(messages[0] ?? "");
  const [, folder] =
    /Current (?:Workspace|Working) Directory \(((?:[^()"\\]|\\\\)+)\)/.exec(start) ?? [];
  const started = /^\d{13}$/.test(id ?? "") ? Number(id) : null;
  return toImportedSession(format, {
    id,
    title: textField(item, "task") ?? textField(first ?? {}, "text") ?? null,
    cwd: textField(item, "workspace") ?? folder?.replaceAll("\\\\", "\\") ?? null,
    startedAt: started ?? timeField(first ?? {}, "ts") ?? timeField(item, "ts"),
    parentSession: textField(item, "parentTaskId") ?? null,
    fields: otherFields(item, ["id", "task", "workspace"]),
  });
}

/** What lies beside the messages is welcome, and not needed. */
async function readBeside(files: FileAccess | undefined, name: string): Promise<unknown> {
  const text = await files?.readText(name, 64 * 1024 * 1024);
  return text === undefined ? undefined : parseJson(text);
}
