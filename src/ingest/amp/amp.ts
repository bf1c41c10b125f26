/**
 * Threads of Amp: one JSON object each, as its command line and its extensions keep them, and as
 * `amp threads export` prints them.
 *
 * The file is written anew with each step. The last message is complete when it says so, when
 * another follows it, or when the file has not been written to for a while.
 */

import type { Block } from "../../model/block.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject } from "../../model/json.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { toContentBlocks, toMessageDrafts } from "../anthropic-content.ts";
import { KEPT_CALLS } from "../batches.ts";
import { readDocument } from "../document/json-document.ts";
import {
  type EntryDraft,
  KnownIds,
  toCustomEntry,
  toImportedEntry,
  toImportedSession,
} from "../drafts.ts";
import {
  countField,
  type Fields,
  nameOf,
  objectField,
  objectsIn,
  otherFields,
  textField,
  timeField,
} from "../fields.ts";
import { textOfHead } from "../head.ts";
import {
  applicationFolder,
  commandFor,
  fileName,
  folderOf,
  joinPath,
  normalizeRemote,
  pathOfUri,
} from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession, SourceInput, TranscriptSource } from "../source.ts";

const FORMAT = "amp";

/** A thread without writes for this long is complete or abandoned. */
const QUIET_MS = 10 * 60 * 1000;

export const AMP: TranscriptSource = {
  name: FORMAT,

  places(environment) {
    const data = folderOf(environment, "XDG_DATA_HOME", joinPath(environment.home, ".local/share"));
    const editors = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];
    const inEditor = "User/globalStorage/sourcegraph.amp/threads3";
    return [
      joinPath(data, "amp/threads"),
      ...editors.map((name) => joinPath(applicationFolder(environment), name, inEditor)),
    ].map((root) => ({ root, matches: (path) => /^T-[^/]+\.json$/.test(path), skips: () => true }));
  },

  recognise(head) {
    const text = textOfHead(head);
    return (
      text.startsWith("{") &&
      /"id"\s*:\s*"T-[0-9a-f-]{8,}"/.test(text) &&
      /"messages"\s*:\s*\[/.test(text)
    );
  },

  isText: () => true,

  read(input) {
    const problems = new ProblemLog();
    let isPostponed = false;
    async function* sessions(): AsyncGenerator<ImportedSession> {
      const document = await readDocument(input, "messages", problems);
      if (document === undefined) return;
      const { frame } = document;
      if (!isPlainObject(frame) || !Array.isArray(frame["messages"])) {
        problems.add("unexpected", "the file is JSON, but not a thread with messages");
        return;
      }
      const messages = new AmpMessages(problems);
      async function* entries(): AsyncGenerator<ImportedEntry> {
        let held: unknown;
        for await (const message of document?.elements(problems) ?? []) {
          if (held !== undefined) yield* messages.read(held);
          held = message;
        }
        isPostponed = isOpen(held) && !(await hasRested(input));
        if (held !== undefined && !isPostponed) yield* messages.read(held);
      }
      const session = describe(frame, fileName(input.path).replace(/\.json$/, ""));
      yield { ...session, entries: entries(), leaf: () => messages.leaf, problems };
    }
    return { sessions: sessions(), problems, isPostponed: () => isPostponed };
  },

  resumeCommand: ({ id }) => commandFor("amp threads continue ", id),
};

function describe(frame: Fields, stem: string): ReturnType<typeof toImportedSession> {
  // The program's own measurements, and the machine's.
  const left = ["messages", "meta", "env", "~debug", "usageLedger", "nextMessageId"];
  const [tree] = objectsIn(objectField(objectField(frame, "env"), "initial")["trees"]);
  const repository = objectField(tree ?? {}, "repository");
  const url = textField(repository, "url");
  return {
    ...toImportedSession(FORMAT, {
      id: textField(frame, "id") ?? (stem === "" ? null : stem),
      title: textField(frame, "title") || null,
      cwd: pathOfUri(textField(tree ?? {}, "uri") ?? ""),
      gitBranch: textField(repository, "ref")?.replace(/^refs\/heads\//, "") ?? null,
      startedAt: timeField(frame, "created"),
      parentSession: textField(frame, "mainThreadID") ?? null,
      fields: otherFields(frame, ["id", "title", "created", "mainThreadID", ...left]),
    }),
    ...(url === undefined ? {} : { repo: normalizeRemote(url) }),
  };
}

const ENDED: readonly unknown[] = ["done", "error", "cancelled", "rejected-by-user"];

/** Whether it is being written: an answer, or the results of tools that run. */
function isOpen(message: unknown): boolean {
  if (!isPlainObject(message)) return false;
  if (objectField(message, "state")["type"] === "streaming") return true;
  return objectsIn(message["content"]).some(
    (block) => block["type"] === "tool_result" && !ENDED.includes(runOf(block)["status"]),
  );
}

async function hasRested({ files, path }: SourceInput): Promise<boolean> {
  const written = await files?.modifiedAt(fileName(path));
  return written === undefined || Date.now() - written > QUIET_MS;
}

class AmpMessages {
  /** The newest message that is not a sub-agent's. */
  leaf: string | null = null;
  readonly #problems: ProblemLog;
  readonly #ids: KnownIds;
  readonly #names = new RecentMap<string, string>(KEPT_CALLS);
  /** The newest message of each sub-agent, by the call that started it; at first that of the call. */
  readonly #tips = new RecentMap<string, string>(KEPT_CALLS);
  #number = 0;

  constructor(problems: ProblemLog) {
    this.#problems = problems;
    this.#ids = new KnownIds(problems);
  }

  *read(message: unknown): Generator<ImportedEntry> {
    const number = this.#number++;
    const fields: Fields = isPlainObject(message) ? message : {};
    const sourceId = `message-${nameOf(fields["messageId"] ?? `${number}`)}`;
    const caller = textField(fields, "parentToolUseId");
    const content = toContentBlocks(toKnownContent(fields["content"]), FORMAT);
    const drafts = content === undefined ? undefined : this.#drafts(fields, content, sourceId);
    if (drafts === undefined) {
      const what = `message ${number + 1} has no known role, or no content: it is custom data`;
      this.#problems.add("unexpected", what);
      const custom = toCustomEntry(FORMAT, sourceId, "message", otherFields(fields, []), null);
      if (this.#ids.isNew(sourceId, fields)) yield { ...custom, parentSourceId: this.leaf };
      return;
    }
    for (const draft of drafts) {
      if (!this.#ids.isNew(draft.sourceId, draft)) continue;
      const tip = caller === undefined ? undefined : this.#tips.get(caller);
      const marks = caller === undefined ? {} : { marks: { sidechain: true } };
      const parentSourceId = tip ?? this.leaf;
      yield toImportedEntry(FORMAT, { ...draft, ...marks, parentSourceId });
      if (caller === undefined) this.leaf = draft.sourceId;
      else this.#tips.set(caller, draft.sourceId);
    }
    for (const block of content ?? []) {
      if (block.type === "tool_use") this.#tips.set(block.id, sourceId);
    }
  }

  #drafts(message: Fields, content: readonly Block[], sourceId: string): EntryDraft[] | undefined {
    const { role } = message;
    const usage = objectField(message, "usage");
    const meta = objectField(message, "meta");
    const createdAt = timeField(usage, "timestamp") ?? timeField(meta, "sentAt");
    const fields = otherFields(message, [
      ...KNOWN,
      ...(meta["sentAt"] === undefined ? [] : ["meta"]),
    ]);
    const base = { sourceId, createdAt, fields, blocks: content };
    const summary = summaryOf(message["content"]);
    if (summary !== undefined) {
      const data = { firstKeptEntryId: null, tokensBefore: null };
      return [{ ...base, kind: "compaction", blocks: [{ type: "text", text: summary }], data }];
    }
    if (role === "info") {
      const isHidden = objectsIn(message["content"]).every(({ hidden }) => hidden === true);
      const data = { type: `${FORMAT}:info`, display: !isHidden };
      return [{ ...base, kind: isHidden ? "custom" : "custom_message", data }];
    }
    if (role === "user") return toMessageDrafts({ ...base, kind: "message", role }, this.#names);
    if (role !== "assistant") return undefined;
    const model = textField(usage, "model") ?? null;
    const said = { role, actor: FORMAT, model, usage: toUsage(usage, model) } as const;
    return toMessageDrafts({ ...base, ...said, kind: "message" }, this.#names);
  }
}

const KNOWN: readonly string[] = ["role", "content", "messageId", "usage", "parentToolUseId"];

/** The content with what Amp calls otherwise in the names of Anthropic's messages. */
function toKnownContent(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content.map((block: unknown) => {
    if (!isPlainObject(block)) return block;
    if (block["type"] === "tool_result" && "toolUseID" in block) return toResult(block);
    if (block["type"] === "manual_bash_invocation") return { type: "text", text: toShell(block) };
    return block;
  });
}

function runOf(block: Fields): Fields {
  return objectField(block, "run");
}

function toResult(block: Fields): object {
  const run = runOf(block);
  const { status, result } = run;
  const { text, rest } = textOfResult(result);
  const reason = textField(objectField(run, "error"), "message") ?? textField(run, "reason");
  const exit = isPlainObject(result) ? result["exitCode"] : undefined;
  const isError = status !== "done" || (typeof exit === "number" && exit !== 0);
  const output = text ?? reason ?? textField(run, "error") ?? nameOf(status);
  const own = { ...otherFields(run, ["status", "result", "error", "reason", "progress"]), ...rest };
  return {
    ...otherFields(block, ["toolUseID", "run"]),
    ...(Object.keys(own).length === 0 ? {} : { run: own }),
    tool_use_id: nameOf(block["toolUseID"]),
    content: output,
    is_error: isError,
  };
}

/** Of an object, the field that tools answer with, and its other fields. */
function textOfResult(result: unknown): { readonly text?: string; readonly rest?: Fields } {
  if (result === undefined || result === null) return {};
  if (typeof result === "string") return { text: result };
  if (isPlainObject(result)) {
    const name = ["output", "content", "diff"].find((each) => typeof result[each] === "string");
    if (name !== undefined) {
      return { text: textField(result, name) ?? "", rest: otherFields(result, [name]) };
    }
  }
  return { text: JSON.stringify(result) };
}

/** A command that the user ran, in words. */
function toShell(block: Fields): string {
  const command = nameOf(objectField(block, "args")["cmd"] ?? "");
  const { text = "" } = textOfResult(objectField(block, "toolRun")["result"]);
  return `Ran \`${command}\`\n${text}`.trimEnd();
}

function summaryOf(content: unknown): string | undefined {
  const block = objectsIn(content).find(({ type }) => type === "summary");
  return block === undefined ? undefined : textField(objectField(block, "summary"), "summary");
}

function toUsage(usage: Fields, model: string | null): Usage | null {
  const count = (name: string) => countField(usage, name);
  if (count("inputTokens") === undefined && count("outputTokens") === undefined) return null;
  const written = count("cacheCreationInputTokens") ?? 0;
  // Models of OpenAI have no price for cache writes: there it is the input that was not cached.
  const isWritten = !/^gpt-/.test(model ?? "");
  return {
    inputTokens: (count("inputTokens") ?? 0) + (isWritten ? 0 : written),
    outputTokens: count("outputTokens") ?? 0,
    cacheCreationTokens: isWritten ? written : 0,
    cacheReadTokens: count("cacheReadInputTokens") ?? 0,
  };
}
