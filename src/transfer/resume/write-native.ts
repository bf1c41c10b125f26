/**
 * Writes a session in another agent's file format. The text is read back by our reader and compared
 * before it is moved into the agent's folder; an existing file is never replaced.
 */

import { execFile } from "node:child_process";
import { getRandomValues, randomUUID } from "node:crypto";
import { link, mkdir, open, readdir, readFile, realpath, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import type { SessionApi } from "../../engine/interfaces.ts";
import { type Loss, LossLog } from "../../export/format.ts";
import { type CarriedMessage, carryMessages } from "../../export/native/carried.ts";
import { readTranscript } from "../../ingest/read-transcript.ts";
import type { Environment, ImportedEntry } from "../../ingest/source.ts";
import { type Block, inputTextOf } from "../../model/block.ts";
import { shellWord } from "../../model/display.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { COPIED_PICTURE } from "../../transcript/copy-mark.ts";
import { parseExact } from "../../transcript/exact-json.ts";
import { codexHome, type ResumeTarget, type TargetPlace } from "./targets.ts";

interface NativeOptions {
  readonly environment: Environment;
  /** The working folder of the continued conversation. */
  readonly cwd: string;
  readonly now: number;
  /** For a file for an import command. */
  readonly temporaryFolder: string;
  readonly leaf?: string;
  /** Every message, including covered ones. */
  readonly full?: boolean;
  readonly dryRun?: boolean;
}

export interface NativeResult {
  /** The new session's id in the other agent. */
  readonly id: string;
  /** The file's path, also in a dry run; null if the agent has imported it. */
  readonly file: string | null;
  readonly messages: number;
  readonly losses: readonly Loss[];
  /** The agent's register that lists it; null if none. */
  readonly registered: string | null;
  readonly command: string;
}

export async function writeNative(
  handle: SessionApi,
  target: ResumeTarget,
  options: NativeOptions,
): Promise<NativeResult> {
  const { environment, now } = options;
  await checkFolder(options.cwd);
  // Agents name their folders after the resolved path.
  const cwd = await realpath(options.cwd);
  const session = await handle.meta();
  const path = await readPath(handle, options.leaf);
  const losses = new LossLog();
  const { reader } = target.format;
  const messages = carryMessages(path, { reader, full: options.full ?? false }, losses);
  const last = messages.findLast(({ entry }) => entry !== null);
  if (last?.entry == null) throw nothingSaid(session.id);
  const id = target.newId(now, getRandomValues(new Uint8Array(16)));
  const text = target.format.write({
    id,
    cwd,
    now,
    messages,
    title: session.title,
    newUuid: () => randomUUID(),
    gitBranch: session.origin.gitBranch ?? null,
    mark: { version: 1, session: session.id, through: last.entry },
  });
  const place = { environment, cwd, id, now };
  const own = await target.file(place);
  const file = own ?? join(options.temporaryFolder, `${id}.json`);
  await checkReading(text, file, target, messages);
  const result = {
    id,
    file: own,
    messages: messages.length,
    losses: losses.all,
    registered: null,
    command: `cd ${shellWord(cwd, environment.platform)} && ${target.resume(id, file)}`,
  };
  if (options.dryRun) return result;
  const beside = target.beside?.(place, session.title);
  if (beside !== undefined) await writeNew(beside.path, beside.text);
  await writeNew(file, text);
  if (own === null) {
    await importFile(target.name, file, place);
    return result;
  }
  if (target.name !== "codex") return result;
  const first = messages.find(({ role }) => role === "user");
  const said = first?.blocks.find((block) => block.type === "text");
  const title = session.title || (said?.type === "text" ? said.text.slice(0, 200) : "");
  const thread = { id, file, cwd, title, now };
  return { ...result, registered: await registerThread(codexHome(environment), thread) };
}

export async function checkFolder(cwd: string): Promise<void> {
  const isFolder = await stat(cwd).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) return;
  throw new BackscrollError(
    "invalid_input",
    `the folder ${cwd} does not exist; name another one with --cwd`,
    { details: { field: "--cwd" } },
  );
}

export function nothingSaid(sessionId: string): BackscrollError {
  return new BackscrollError("invalid_input", `session ${sessionId} has no message to continue`, {
    details: { field: "SESSION" },
  });
}

/** Entries per page: few, because each may be large. */
const ENTRY_PAGE = 50;

export async function readPath(handle: SessionApi, leaf: string | undefined): Promise<Entry[]> {
  if (leaf !== undefined) await handle.getEntry(leaf);
  const entries: Entry[] = [];
  let after: string | undefined;
  do {
    const page = await handle.listEntries({
      ...(leaf === undefined ? {} : { leaf }),
      ...(after === undefined ? {} : { after }),
      limit: ENTRY_PAGE,
    });
    entries.push(...page.entries.filter(({ status }) => status === "committed"));
    after = page.next;
  } while (after !== undefined);
  return entries;
}

async function checkReading(
  text: string,
  path: string,
  target: ResumeTarget,
  messages: readonly CarriedMessage[],
): Promise<void> {
  const source = target.source ?? target.name;
  const transcript = await readTranscript({ bytes: [Buffer.from(text)], path, source });
  const read: ImportedEntry[] = [];
  for await (const session of transcript.sessions) {
    for await (const entry of session.entries) read.push(entry);
  }
  const [problem] = transcript.problems.first;
  const difference = problem?.message ?? findDifference(messages, read);
  if (difference === undefined) return;
  throw new BackscrollError(
    "invalid_input",
    `nothing was written: the session does not round-trip through a file of ${target.name}: ${difference}; continue it with a briefing, without --native`,
    { details: { field: "--native" } },
  );
}

/** Atomic; fails if the file exists. */
export async function writeNew(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const partial = join(dirname(file), `.${basename(file)}.${randomUUID()}.partial`);
  const handle = await open(partial, "wx", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
    await handle.close();
    await link(partial, file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    throw new BackscrollError("invalid_input", `${file} exists already, and is left unchanged`, {
      details: { field: "file" },
      cause,
    });
  } finally {
    await handle.close().catch(() => undefined);
    await rm(partial, { force: true });
  }
}

async function importFile(
  program: string,
  file: string,
  { cwd, environment }: TargetPlace,
): Promise<void> {
  try {
    await promisify(execFile)(program, ["import", file], { cwd, timeout: 120_000 });
    await rm(file, { force: true });
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const why = isMissing ? `${program} is not on the PATH` : (cause as Error).message.trim();
    const way = `cd ${shellWord(cwd, environment.platform)} && ${program} import ${shellWord(file)}`;
    throw new BackscrollError(
      "invalid_input",
      `${why}; the file is written, import it with: ${way}`,
      {
        details: { field: "--in" },
        cause,
      },
    );
  }
}

/**
 * Describes the first difference; undefined if there is none. Thoughts and failures are not
 * compared.
 */
function findDifference(
  carried: readonly CarriedMessage[],
  read: readonly ImportedEntry[],
): string | undefined {
  const wanted = carried.flatMap(({ role, blocks }) =>
    blocks.flatMap((block) => atoms(role, block)),
  );
  const found = read
    .filter(({ kind }) => kind === "message" || kind === "custom_message")
    .flatMap(({ role, blocks }) => blocks.flatMap((block) => atoms(role ?? "user", block)));
  const at = wanted.findIndex((atom, i) => atom !== found[i]);
  if (at >= 0)
    return `part ${at + 1} of ${wanted.length} is read as ${short(found[at])}, not ${short(wanted[at])}`;
  return found.length === wanted.length
    ? undefined
    : `it is read as ${found.length} parts, not ${wanted.length}`;
}

function atoms(role: string, block: Block): string[] {
  switch (block.type) {
    case "text":
      return [`${role} text ${block.text}`];
    case "tool_use":
      return [`call ${block.id} ${block.name} ${toJson(inputTextOf(block))}`];
    case "tool_result":
      return [`result ${block.toolUseId} ${outputOf(block.output)}`];
    case "image":
      return [`${role} image ${block.data ?? block.url ?? ""}`];
    default:
      return [];
  }
}

function outputOf(output: string | readonly Block[]): string {
  if (typeof output === "string") return output;
  return output.map((block) => (block.type === "text" ? block.text : COPIED_PICTURE)).join("\n");
}

/** As the formats represent it: a JSON object, or an object around the text. */
function toJson(input: string): string {
  try {
    const value = parseExact(input);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return JSON.stringify(isObject ? value : { input });
  } catch {
    // A model's arguments may be invalid JSON.
    return JSON.stringify({ input });
  }
}

function short(atom: string | undefined): string {
  if (atom === undefined) return "nothing";
  return JSON.stringify(atom.length > 80 ? `${atom.slice(0, 80)}…` : atom);
}

interface CodexThread {
  readonly id: string;
  readonly file: string;
  readonly cwd: string;
  readonly title: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * Codex's register of threads is a SQLite database with its version in the file name. `codex
 * resume` lists registered threads; Codex registers others when it opens them by id. A register of
 * an unknown schema is left unchanged.
 *
 * The database's path; null if missing or of an unknown schema.
 */
async function registerThread(home: string, thread: CodexThread): Promise<string | null> {
  const file = await findRegister(home);
  if (file === null) return null;
  const provider = await providerOf(home);
  try {
    const sqlite = await import("node:sqlite");
    const database = new sqlite.DatabaseSync(file);
    try {
      database.exec("PRAGMA busy_timeout = 2000");
      return insert(database, thread, provider) ? file : null;
    } finally {
      database.close();
    }
  } catch {
    // Locked, or not a database: Codex registers the thread when it opens it.
    return null;
  }
}

async function findRegister(home: string): Promise<string | null> {
  const names = await readdir(home).catch(() => []);
  const versions = names.flatMap((name) => {
    const [, version] = /^state_(\d+)\.sqlite$/.exec(name) ?? [];
    return version === undefined ? [] : [{ name, version: Number(version) }];
  });
  const newest = versions.sort((a, b) => b.version - a.version)[0];
  return newest === undefined ? null : join(home, newest.name);
}

/** The list shows the threads of the configured provider. */
async function providerOf(home: string): Promise<string> {
  const text = await readFile(join(home, "config.toml"), "utf8").catch(() => "");
  const top = text.split(/^[ \t]*\[/m, 1)[0] ?? "";
  return /^[ \t]*model_provider[ \t]*=[ \t]*["']([^"'\n]+)["']/m.exec(top)?.[1] ?? "openai";
}

function insert(database: DatabaseSync, thread: CodexThread, provider: string): boolean {
  const columns = database
    .prepare("SELECT name, \"notnull\", dflt_value FROM pragma_table_info('threads')")
    .all();
  const seconds = Math.floor(thread.now / 1000);
  const values: Readonly<Record<string, string | number>> = {
    id: thread.id,
    rollout_path: thread.file,
    created_at: seconds,
    updated_at: seconds,
    source: "cli",
    model_provider: provider,
    cwd: thread.cwd,
    title: thread.title,
    sandbox_policy: '{"type":"read-only"}',
    approval_mode: "on-request",
    has_user_event: 1,
    cli_version: "0.0.0",
    first_user_message: thread.title,
    preview: thread.title,
    created_at_ms: thread.now,
    updated_at_ms: thread.now,
    thread_source: "user",
    recency_at: seconds,
    recency_at_ms: thread.now,
    history_mode: "legacy",
  };
  const known = columns.filter(({ name }) => Object.hasOwn(values, String(name)));
  const isUnderstood = columns.every(
    ({ name, notnull, dflt_value }) =>
      notnull === 0 || dflt_value !== null || Object.hasOwn(values, String(name)),
  );
  if (columns.length === 0 || !isUnderstood) return false;
  const names = known.map(({ name }) => String(name));
  const marks = names.map(() => "?").join(", ");
  database
    .prepare(`INSERT OR IGNORE INTO threads (${names.join(", ")}) VALUES (${marks})`)
    .run(...names.map((name) => values[name] ?? ""));
  return true;
}
