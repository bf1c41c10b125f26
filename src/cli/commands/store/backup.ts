import { createHash } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { hidePasswords } from "../../../api/error.ts";
import { type CopyReport, resolveNew } from "../../../backup.ts";
import type { RemoteEngine } from "../../../client/index.ts";
import { BackscrollError } from "../../../model/errors.ts";
import { type Command, defineCommand, flag } from "../../command.ts";
import { type Context, isServer } from "../../context.ts";
import { maintainTenants } from "../../maintain-tenants.ts";
import { counted, formatBytes, formatCount } from "../../print.ts";
import { commandLine } from "../../program.ts";
import {
  explainMissingStore,
  noteLoss,
  refuseServer,
  withOwnEngine,
  withServer,
} from "../../store.ts";
import { Progress } from "../../terminal.ts";

export const backup: Command = defineCommand({
  name: "backup",
  summary: "Copy the whole store, all tenants, to a new file, beside writers.",
  details:
    "The copy carries checksums of its parts: restore compares them while it reads, and --verify does without restoring. The copy is a snapshot and itself a SQLite store, whatever the original is. A database file copied by hand, without its write-ahead log, lacks the newest turns. Of a server it needs an operator's token, and the server needs room for the copy in its temporary folder.",
  arguments: [{ name: "FILE", help: "A file that does not exist yet; with --verify, a backup." }],
  options: {
    verify: flag("Check the backup FILE, and copy nothing."),
  },
  examples: ["backup ~/backscroll-monday.db", "backup --verify ~/backscroll-monday.db"],
  run: async (context, args, options) => {
    const progress = new Progress();
    if (options.verify) return checkBackup(context, args.FILE, progress);
    const copy = isServer(context.address) ? copyServer : copyStore;
    const report = await copy(context, args.FILE, progress).finally(() => progress.end());
    const { file, rows } = report;
    if (context.json) return context.terminal.printJson({ file, rows });
    return context.terminal.print(`Copied ${counted(rows, "row")} to ${file}`);
  },
});

async function checkBackup(context: Context, file: string, progress: Progress): Promise<void> {
  const { verifyBackup } = await import("../../../backup.ts");
  const report = await verifyBackup(file, {
    onProgress: (rows) => progress.show(() => `Read ${formatCount(rows)} rows`),
  }).finally(() => progress.end());
  const { rows, sealed } = report;
  if (context.json) await context.terminal.printJson({ file: report.file, rows, sealed });
  else if (sealed) {
    await context.terminal.print(`${counted(rows, "row")} in ${report.file} match their checksums`);
  } else {
    await context.terminal.print(
      `${counted(rows, "row")} in ${report.file} can be read, but it has no checksums: 0.1.0 made it, or it was opened as a store since. To check it further: ${commandLine({ ...context, given: { db: report.file } }, "doctor --verify")}`,
    );
  }
}

async function copyStore(context: Context, file: string, progress: Progress): Promise<CopyReport> {
  const { backup: copy } = await import("../../../backup.ts");
  return explainMissingStore(context, () =>
    copy(context.address, file, {
      onProgress: (rows) => progress.show(() => `Copied ${formatCount(rows)} rows`),
      onLoss: (loss) => noteLoss(context, loss),
    }),
  );
}

function copyServer(context: Context, file: string, progress: Progress): Promise<CopyReport> {
  return withServer(context, (_tenant, engine) =>
    downloadBackup(engine, file, (bytes, of) =>
      progress.show(() => `Received ${formatBytes(bytes)} of ${formatBytes(of)}`),
    ),
  );
}

/** Downloads a backup of a server's store: the file appears once it is complete and verified. */
interface DownloadedBackup {
  readonly file: string;
  readonly rows: number;
}

/** `onProgress` gets the received and the total bytes. */
async function downloadBackup(
  engine: RemoteEngine,
  path: string,
  onProgress: (bytes: number, of: number) => void,
): Promise<DownloadedBackup> {
  const file = resolveNew(path);
  const partial = `${file}.partial`;
  // Mode 0600: it holds conversations. Created first: a bad name should not cost a copy.
  const handle = await open(partial, "w", 0o600);
  try {
    const { body, rows, bytes } = await engine.backup({ hash: createHash("sha256") });
    let written = 0;
    for await (const piece of body) {
      await handle.appendFile(piece);
      written += piece.length;
      onProgress(written, bytes);
    }
    await handle.sync();
    await rename(partial, file);
    return { file, rows };
  } finally {
    await handle.close();
    await rm(partial, { force: true });
  }
}

export const restore: Command = defineCommand({
  name: "restore",
  summary: "Fill a new or empty store from a backup, atomically.",
  details:
    "The store may be of the other backend: this is also how to move from SQLite to PostgreSQL. Feed cursors of the original expire. The index is built before the command ends. A server's store is filled while no server runs on it: see docs/server.md.",
  arguments: [{ name: "FILE", help: "The backup." }],
  examples: ["restore ~/backscroll-monday.db --db ~/restored.db"],
  run: async (context, args) => {
    refuseServer(
      context,
      "restore",
      "stop the server, run it on the server's machine with --db of a new store, and serve that",
    );
    const progress = new Progress();
    const { restore: fillStore } = await import("../../../backup.ts");
    const report = await fillStore(args.FILE, context.address, {
      onProgress: (rows) => progress.show(() => `Copied ${formatCount(rows)} rows`),
    }).finally(() => progress.end());
    await buildIndex(context);
    const address = hidePasswords(context.address);
    if (context.json) await context.terminal.printJson({ file: report.file, rows: report.rows });
    else await context.terminal.print(`Restored ${counted(report.rows, "row")} to ${address}`);
  },
});

/** The copy is whole without its index, which can be built later. */
async function buildIndex(context: Context): Promise<void> {
  try {
    await withOwnEngine(context, async (engine) =>
      maintainTenants(engine, await engine.listTenants(), "flush", "Building the index"),
    );
  } catch (error) {
    if (!BackscrollError.is(error)) throw error;
    const rebuild = commandLine(context, "doctor --rebuild");
    context.terminal.note(
      `The store is restored, but its index is not built: ${error.message}. To build it: ${rebuild}`,
    );
  }
}
