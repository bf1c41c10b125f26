/**
 * Writes a session in another agent's file format. The text is read back by our reader and compared
 * before it is moved into the agent's folder; an existing file is never replaced.
 */

import { execFile } from "node:child_process";
import { getRandomValues, randomUUID } from "node:crypto";
import { link, mkdir, open, realpath, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { SessionApi } from "../../engine/interfaces.ts";
import { type Loss, LossLog } from "../../export/losses.ts";
import { type CarriedMessage, carryMessages } from "../../export/native/carried.ts";
import { readTranscript } from "../../ingest/read-transcript.ts";
import type { Environment, ImportedEntry } from "../../ingest/source.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { shellWord } from "../shell-word.ts";
import { registerThread } from "./codex-register.ts";
import { findDifference } from "./compare-carried.ts";
import { codexHome, type ResumeTarget } from "./targets.ts";

export interface NativeOptions {
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
  const own = await target.file({ environment, cwd, id, now });
  const file = own ?? join(options.temporaryFolder, `${id}.json`);
  await checkReading(text, file, target, messages);
  const result = {
    id,
    file: own,
    messages: messages.length,
    losses: losses.all,
    registered: null,
    command: `cd ${shellWord(cwd)} && ${target.resume(id, file)}`,
  };
  if (options.dryRun) return result;
  await writeNew(file, text);
  if (own === null) {
    await importFile(target.name, file, cwd);
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

async function importFile(program: string, file: string, cwd: string): Promise<void> {
  try {
    await promisify(execFile)(program, ["import", file], { cwd, timeout: 120_000 });
    await rm(file, { force: true });
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const why = isMissing ? `${program} is not on the PATH` : (cause as Error).message.trim();
    const way = `cd ${shellWord(cwd)} && ${program} import ${shellWord(file)}`;
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
