/**
 * Sessions of opencode: a database of sessions, messages and their parts, and its predecessor, a
 * tree of JSON files with the same content.
 *
 * Messages and parts change while the agent works, but stored entries do not. So a step is yielded
 * when it is complete: when it is marked so, when something follows it, or when it has not been
 * written to for a while.
 */

import { isPlainObject } from "../../model/json.ts";
import { type Fields, textField } from "../fields.ts";
import { textOfHead } from "../head.ts";
import { readJson } from "../json-file.ts";
import { fileName, folderOf, joinPath } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import { commandFor } from "../resume-command.ts";
import type {
  Environment,
  FileAccess,
  ImportedSession,
  SourceInput,
  TranscriptSource,
} from "../source.ts";
import { databaseText, withDatabase } from "../sqlite-file.ts";
import { OpencodeDatabase } from "./opencode-database.ts";
import { readMessageFiles } from "./opencode-files.ts";
import { toOpencodeSession } from "./opencode-session.ts";
import { FORMAT } from "./opencode-step.ts";

export const OPENCODE: TranscriptSource = {
  name: FORMAT,
  container: "database",

  places(environment) {
    const matches = (path: string) => /^opencode[^/]*\.db$/.test(path);
    return [{ root: dataFolder(environment), matches, skips: () => true }];
  },

  recognise(head, path) {
    const text = databaseText(head);
    if (text === undefined) return false;
    if (/^opencode[^/\\]*\.db$/.test(fileName(path))) return true;
    return ["session", "message", "part"].every((name) =>
      new RegExp(`CREATE TABLE [\`"]?${name}[\`"]? ?\\(`).test(text),
    );
  },

  read(input) {
    const problems = new ProblemLog();
    // Until everything is read, the previous state is valid.
    let state = input.resume;
    let isPostponed = true;
    async function* sessions(): AsyncGenerator<ImportedSession> {
      yield* withDatabase(input.path, problems, async function* (file) {
        const database = new OpencodeDatabase(file, input.resume, problems);
        for (const row of database.sessions()) {
          const messages = database.messages(textField(row, "id") ?? "");
          yield toOpencodeSession(fromRow(row), iterate(messages), problems, (time) =>
            database.postpone(time),
          );
        }
        state = database.state();
        isPostponed = database.isPostponed || file.hasFailed;
      });
    }
    const end = { state: () => state, isPostponed: () => isPostponed };
    return { sessions: sessions(), problems, ...end };
  },

  resumeCommand: ({ id }) => commandFor("opencode --session ", id),
};

/** The tree of files before version 1.2. */
export const OPENCODE_FILES: TranscriptSource = {
  name: `${FORMAT}-files`,

  places(environment) {
    return [
      {
        root: joinPath(dataFolder(environment), "storage"),
        matches: (path) => /^session\/[^/]+\/ses_[^/]+\.json$/.test(path),
        skips: (path) => !/^session(\/|$)/.test(path),
        // A message is written at its start and its end, so its parts need no watching.
        parts: { isIn: (folder) => /^message(\/[^/]+)?$/.test(folder), ownerOf: sessionOf },
      },
    ];
  },

  companions(path) {
    const id = fileName(path).replace(/\.json$/, "");
    return [{ folder: `../../message/${id}` }];
  },

  recognise(head) {
    const text = textOfHead(head);
    return (
      /^\s*\{(?!\s*"info")/.test(text) &&
      /"id"\s*:\s*"ses_/.test(text) &&
      /"(projectID|directory|version)"\s*:/.test(text) &&
      !/"messages"\s*:/.test(text)
    );
  },

  isText: () => true,

  read(input) {
    const problems = new ProblemLog();
    let isPostponed = false;
    const postpone = () => {
      isPostponed = true;
    };
    const sessions = readFiles(input, problems, postpone);
    return { sessions, problems, isPostponed: () => isPostponed };
  },
};

/** A message names its session, which lies in its project's folder. */
async function sessionOf(path: string, files: FileAccess): Promise<string | undefined> {
  const [, id] = /^message\/([^/]+)\/[^/]+\.json$/.exec(path) ?? [];
  if (id === undefined) return undefined;
  for (const project of await files.list("session")) {
    const names = await files.list(`session/${project}`);
    if (names.includes(`${id}.json`)) return `session/${project}/${id}.json`;
  }
  return undefined;
}

async function* readFiles(
  input: SourceInput,
  problems: ProblemLog,
  postpone: () => void,
): AsyncGenerator<ImportedSession> {
  const session = await readJson(input.lines, problems);
  if (session === undefined) return;
  if (!isPlainObject(session) || textField(session, "id") === undefined) {
    problems.add("unexpected", "the file is JSON, but not a session");
    return;
  }
  const messages = readMessageFiles(input.files, textField(session, "id") ?? "", problems);
  yield toOpencodeSession(session, messages, problems, postpone);
}

/** A row in the form of the files. */
function fromRow(row: Fields): Fields {
  const { parent_id, project_id, time_created, time_updated, ...rest } = row;
  const isSet = ([, value]: [string, unknown]) => value !== null;
  return {
    ...Object.fromEntries(Object.entries(rest).filter(isSet)),
    ...(parent_id === null ? {} : { parentID: parent_id }),
    projectID: project_id,
    time: { created: time_created, updated: time_updated },
  };
}

function dataFolder(environment: Environment): string {
  const otherwise = joinPath(environment.home, ".local/share");
  return joinPath(folderOf(environment, "XDG_DATA_HOME", otherwise), "opencode");
}

async function* iterate<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  yield* items;
}
