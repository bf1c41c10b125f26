import { existsSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { isPart, readOriginal } from "../../../archive/originals.ts";
import type { ExportFormat } from "../../../export/format.ts";
import { exportSession, FORMATS, findFormat } from "../../../export/formats.ts";
import { defined } from "../../../model/defined.ts";
import { BackscrollError } from "../../../model/errors.ts";
import { requireAllowed } from "../../../policy.ts";
import type { Original } from "../../../store/ingested-file.ts";
import { type ExportSelection, toExportInput } from "../../../transfer/export-session.ts";
import {
  type ExportedRecord,
  exportOwner,
  exportTenant,
  toExportLine,
} from "../../../transfer/export-tenant.ts";
import {
  type Command,
  defineCommand,
  type ExitCode,
  flag,
  option,
  usageError,
} from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { counted, formatCount } from "../../print.ts";
import { refuseServer, withOwnTenant, withStore } from "../../store.ts";
import type { Terminal } from "../../terminal.ts";
import { Progress } from "../../terminal.ts";

export const exportSessions: Command = defineCommand({
  name: "export",
  summary: "Write a session in another format, or everything as JSON lines.",
  details:
    'With --all: a line for each session (type "session"), followed by its entries (type "entry", all branches, in the order of writing) and its facts (type "fact"); memories come last (type "memory"). The fields are those of --json. With a session: text, a page for people, or with --format a file for other agents; losses are counted on standard error. Secrets are masked: to move everything elsewhere, add --raw. With --owner: the same of one person, and what belongs to them elsewhere: messages in sessions of others, memories, facts, records, routes and tokens. For a copy that can be restored, use backup, which masks nothing. With --original: the transcript that the session was ingested from.',
  arguments: [
    { name: "SESSION", optional: true, help: "The session's id; left out with --all." },
    {
      name: "FILE",
      optional: true,
      help: "A file that does not exist yet; standard output if it is - or left out.",
    },
  ],
  options: {
    all: flag("Every session, in our own format."),
    owner: option("NAME", "Everything of this owner, as forget --owner deletes it."),
    project: option(
      "NAME",
      "With --all: only this project, by its folder's name, the end of its path, or its id; without memories.",
    ),
    format: option(
      "NAME",
      `Of one session: ${FORMATS.map(({ name }) => name).join(", ")}; markdown if left out, html for a FILE of that name.`,
    ),
    full: flag(
      "All messages of a compacted session; the claw formats otherwise write its summary and the messages after it.",
    ),
    leaf: option("ENTRY", "The path to this entry, and no other branch."),
    raw: flag("Keep secrets as they were written."),
    original: flag("The file that the session was ingested from, byte for byte and unmasked."),
    path: option("PATH", "With --original: which file, if the session was ingested from several."),
  },
  examples: [
    "export --all sessions.jsonl",
    "export --all --raw everything.jsonl",
    "export --owner ana ana.jsonl",
    "export 5f0c2a91",
    "export 5f0c2a91 page.html",
  ],
  run: (context, args, options) => {
    if (options.original) {
      for (const name of ["all", "format", "leaf", "full", "raw"] as const) {
        if (options[name] !== undefined) {
          throw usageError(
            `--original writes the kept file unchanged; leave out --${name}`,
            `--${name}`,
          );
        }
      }
      if (args.SESSION === undefined) throw usageError("--original needs a SESSION", "SESSION");
      return exportOriginal(context, args.SESSION, options.path, args.FILE);
    }
    if (options.path !== undefined) throw usageError("--path needs --original", "--path");
    const { owner, project, raw = false } = options;
    if (options.all || owner !== undefined) {
      const which = owner === undefined ? "--all" : "--owner";
      for (const name of ["format", "leaf", "full"] as const) {
        if (options[name] !== undefined) {
          throw usageError(`${which} exports whole sessions; leave out --${name}`, `--${name}`);
        }
      }
      if (args.FILE !== undefined) {
        throw usageError(`${which} takes one FILE and no SESSION`, "FILE");
      }
      if (owner === undefined) {
        return withStore(context, "read", (tenant) =>
          exportLines(context, args.SESSION, raw, exportTenant(tenant, defined({ project }))),
        );
      }
      if (project !== undefined || options.all) {
        throw usageError("--owner is not narrowed down; leave the others out", "--owner");
      }
      refuseServer(context, "--owner", "run it where the store is");
      return withOwnTenant(context, "read", (tenant) =>
        exportLines(context, args.SESSION, raw, exportOwner(tenant, owner)),
      );
    }
    if (options.project !== undefined) {
      throw usageError("--project needs --all", "--project");
    }
    if (args.SESSION === undefined) {
      throw usageError("export needs a session, or --all", "--all");
    }
    const format = findFormat(options.format ?? formatOf(args.FILE));
    if (options.full && !format.compacts) {
      throw usageError(`${format.name} always has all messages; leave out --full`, "--full");
    }
    const selection = defined({ leaf: options.leaf, full: options.full, raw: options.raw });
    return exportOne(context, args.SESSION, format, selection, args.FILE);
  },
});

/** A page for people, and text for a terminal, a pipe and any other name. */
function formatOf(file: string | undefined): string {
  return /\.html?$/i.test(file ?? "") ? "html" : "markdown";
}

function exportOne(
  context: Context,
  sessionId: string,
  format: ExportFormat,
  selection: ExportSelection,
  file: string | undefined,
): Promise<ExitCode> {
  return withStore(context, "read", async (tenant) => {
    const { terminal } = context;
    const handle = await tenant.getSession(sessionId);
    const input = await toExportInput(handle, format, selection);
    const { chunks, losses } = exportSession(format, input);
    const output = await openOutput(file, terminal);
    try {
      for await (const chunk of chunks) await output.write(chunk);
      await output.finish();
    } finally {
      await output.discard();
    }
    const lost = losses();
    if (lost.length > 0) {
      const parts = lost.map(({ what, count }) => `${formatCount(count)} ${what}`);
      terminal.note(`${format.name} cannot hold: ${parts.join(", ")}`);
    }
    if (output.file === undefined) return;
    const written = { session_id: handle.id, format: format.name, file: output.file, losses: lost };
    if (context.json) await terminal.printJson(written);
    else await terminal.print(`Exported ${sessionId} to ${output.file}`);
  });
}

async function exportLines(
  context: Context,
  file: string | undefined,
  raw: boolean,
  records: AsyncIterable<ExportedRecord>,
): Promise<ExitCode> {
  if (raw) requireAllowed("rawExports");
  const { terminal } = context;
  const progress = new Progress();
  const output = await openOutput(file, terminal);
  const counts = { session: 0, entry: 0, fact: 0, memory: 0, record: 0, route: 0, token: 0 };
  try {
    for await (const record of records) {
      counts[record.type]++;
      await output.write(`${JSON.stringify(toExportLine(record, raw))}\n`);
      progress.show(() => `Exported ${formatCount(counts.session)} sessions`);
    }
    await output.finish();
  } finally {
    progress.end();
    await output.discard();
  }
  const { session, entry, fact, memory, record, route, token } = counts;
  if (output.file !== undefined && context.json) {
    const written = { sessions: session, entries: entry, facts: fact, memories: memory };
    const others = { records: record, routes: route, tokens: token };
    await terminal.printJson({ file: output.file, ...written, ...others });
  } else if (output.file !== undefined) {
    const parts = [counted(session, "session"), counted(entry, "entry")];
    await terminal.print(`Exported ${parts.join(" with ")} to ${output.file}`);
  }
  return EXIT.ok;
}

/** The original file of an ingested session. */
function exportOriginal(
  context: Context,
  sessionId: string,
  path: string | undefined,
  file: string | undefined,
): Promise<ExitCode> {
  requireAllowed("rawExports");
  return withStore(context, "read", async (tenant) => {
    const { id } = await tenant.getSession(sessionId);
    const all = await tenant.originals.list({ sessionId: id });
    const original = pick(id, all, path);
    const output = await openOutput(file, context.terminal);
    try {
      for await (const bytes of readOriginal(tenant, original)) await output.write(bytes);
      await output.finish();
    } finally {
      await output.discard();
    }
    if (output.file === undefined) return;
    const { size, source } = original;
    const written = { session_id: id, path: original.path, source, size, file: output.file };
    if (context.json) await context.terminal.printJson(written);
    else {
      const line = `Exported ${original.path} (${formatCount(size)} bytes) to ${output.file}`;
      await context.terminal.print(line);
    }
  });
}

function pick(id: string, all: readonly Original[], path: string | undefined): Original {
  const matching = all.filter((each) => (path === undefined ? !isPart(each) : each.path === path));
  const [only] = matching;
  if (only !== undefined && matching.length === 1) return only;
  const known = all.map((each) => each.path).join(", ");
  const message =
    all.length === 0
      ? `no original of session ${id} is kept: it was not ingested from a file, or originals are off (BACKSCROLL_ORIGINALS, ingest --no-originals), or its format is a database or a folder of files`
      : matching.length === 0
        ? `session ${id} was not ingested from ${path}; it was from ${known}`
        : `session ${id} was ingested from several files; name one with --path: ${known}`;
  throw new BackscrollError("invalid_input", message, {
    details: { field: all.length === 0 ? "SESSION" : "--path" },
  });
}

/** The target of a large output: a new file that appears when complete, or standard output. */
interface Output {
  /** Absent for standard output. */
  readonly file?: string;
  write(text: string | Uint8Array): Promise<void>;
  /** Renames the file to its final name. */
  finish(): Promise<void>;
  /** Removes an unfinished output. */
  discard(): Promise<void>;
}

async function openOutput(path: string | undefined, terminal: Terminal): Promise<Output> {
  if (path === undefined || path === "-") {
    const nothing = () => Promise.resolve();
    return { write: (text) => terminal.write(text), finish: nothing, discard: nothing };
  }
  const file = resolve(path);
  if (existsSync(file)) throw usageError(`${file} exists already; name a new file`, "FILE");
  const partial = `${file}.partial`;
  const handle = await create(partial, file);
  return {
    file,
    write: (text) => handle.appendFile(text),
    finish: async () => {
      await handle.sync();
      await handle.close();
      await rename(partial, file);
    },
    discard: async () => {
      await handle.close();
      await rm(partial, { force: true });
    },
  };
}

/** Readable by its owner only: it holds conversations. */
async function create(partial: string, file: string): Promise<FileHandle> {
  try {
    return await open(partial, "w", 0o600);
  } catch (cause) {
    throw new BackscrollError(
      "invalid_input",
      `${file} cannot be written: ${(cause as Error).message}`,
      { details: { field: "FILE" }, cause },
    );
  }
}
