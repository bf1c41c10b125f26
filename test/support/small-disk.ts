/** A process that fills a small disk with a store, and makes room as docs/store.md says. */

import { closeSync, existsSync, openSync, rmSync, writeSync } from "node:fs";
import { BackscrollError, type Engine, open } from "../../src/index.ts";
import { receiveTask, say } from "./child-task.ts";

export interface SmallDiskTask {
  readonly address: string;
  readonly inThread: boolean;
}

export interface SmallDiskReport {
  /** Entries that were acknowledged before the disk was full, and those that are stored. */
  readonly acknowledged: readonly string[];
  readonly stored: readonly string[];
  /** The code with which the last append was refused. */
  readonly refused: string;
  /** What `close` did on the full disk: its error, and the warnings. */
  readonly closed: { readonly error: string | null; readonly warnings: readonly string[] };
  /** The error of a block that threw while it disposed of the store (`await using`). */
  readonly thrown: string;
  readonly hasLog: boolean;
  /** After the index was deleted: the entries of a deleted session, and of further appends. */
  readonly deleted: number;
  readonly appended: number;
  /** Whether closing then left a single file. */
  readonly isMerged: boolean;
  /** Messages that took the place of deleted ones after another program had filled the disk. */
  readonly recycled: number;
  /** Of all hashes, at the end. */
  readonly problems: number;
}

const EACH_SESSION = 10;
/** With an index that is larger than what the log needs to be merged. */
const INDEXED = 60;
/** Together they write more than the log has room for without a checkpoint. */
const ROUNDS = 12;

const { address, inThread } = await receiveTask<SmallDiskTask>();

const warnings: string[] = [];
const openStore = () =>
  open(address, {
    inThread,
    indexing: { flushAt: 0 },
    onWarning: (sentence) => warnings.push(sentence),
  });

/** Random words, so that the index is large. */
function content(): string {
  const word = () => Math.random().toString(36).slice(2, 8);
  return Array.from({ length: 2_000 }, word).join(" ");
}

/** Appends until `count` messages are acknowledged or one is refused; gives the refusal's code. */
async function fill(engine: Engine, ids: string[], count: number): Promise<string> {
  try {
    for (const end = ids.length + count; ids.length < end; ) {
      const id = `s-${Math.floor(ids.length / EACH_SESSION)}`;
      if (ids.length % EACH_SESSION === 0)
        await engine.createSession({ id, agent: "test", createdBy: "test" });
      ids.push((await engine.session(id).append({ role: "user", content: content() })).id);
    }
    return "";
  } catch (error) {
    return BackscrollError.is(error) ? error.code : `no code: ${error}`;
  }
}

async function storedIds(engine: Engine): Promise<string[]> {
  const { sessions } = await engine.listSessions({ limit: 500 });
  const pages = sessions.map(({ id }) => engine.session(id).listEntries({ limit: 500 }));
  return (await Promise.all(pages)).flatMap(({ entries }) => entries.map(({ id }) => id));
}

async function appendTo(engine: Engine, id: string, count: number): Promise<number> {
  for (let i = 0; i < count; i++) {
    await engine.session(id).append({ role: "user", content: content() });
  }
  return count;
}

const acknowledged: string[] = [];
const engine = await openStore();
await fill(engine, acknowledged, INDEXED);
await engine.maintainIndex("flush");
const refused = await fill(engine, acknowledged, 1_000_000);
const closed = await engine.close().then(
  () => null,
  (error: unknown) => String(error),
);
const closing = { error: closed, warnings: [...warnings] };

let thrown = "";
try {
  await using again = await openStore();
  await again.listSessions();
  throw new Error("the caller's own");
} catch (error) {
  thrown = String(error);
}
const hasLog = existsSync(`${address}-wal`);
const reader = await open(address, { readOnly: true, inThread });
const stored = await storedIds(reader);
await reader.close();

for (const suffix of ["", "-wal", "-shm"]) rmSync(`${address}-index${suffix}`, { force: true });
warnings.length = 0;
const mended = await openStore();
const { entryCount: deleted } = await mended.deleteSession("s-1");
const appended = await appendTo(mended, "s-2", deleted);
await mended.close();
const isMerged = warnings.length === 0 && !existsSync(`${address}-wal`);

const crowded = await openStore();
// The log grows to a size that has room for some writes.
for (const id of ["s-3", "s-4", "s-5"]) await crowded.deleteSession(id);
// Another program takes all the room that is left.
const ballast = openSync(`${address}-ballast`, "w");
try {
  for (const bytes = new Uint8Array(4_096); ; ) writeSync(ballast, bytes);
} catch {
  closeSync(ballast);
}
let recycled = 0;
for (let round = 0; round < ROUNDS; round++) {
  const { entryCount } = await crowded.deleteSession(`s-${10 + round}`);
  recycled += await appendTo(crowded, "s-2", entryCount / 2);
}
const { problems } = await crowded.verify();
await crowded.close();

say({
  acknowledged,
  stored,
  refused,
  closed: closing,
  thrown,
  hasLog,
  deleted,
  appended,
  isMerged,
  recycled,
  problems: problems.length,
} satisfies SmallDiskReport);
