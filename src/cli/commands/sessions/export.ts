import { maskEntry, maskFact, maskMemory, maskSession } from "../../../api/mask.ts";
import { toWireSession } from "../../../api/session.ts";
import { toWire } from "../../../api/shape.ts";
import type { ExportFormat } from "../../../export/format.ts";
import { exportSession, FORMATS, findFormat } from "../../../export/formats.ts";
import { ENTRY } from "../../../model/entry.ts";
import { FACT, MEMORY } from "../../../model/note.ts";
import { type ExportSelection, toExportInput } from "../../../transfer/export-session.ts";
import { type ExportedRecord, exportTenant } from "../../../transfer/export-tenant.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { counted, formatCount } from "../../print.ts";
import { Progress } from "../../progress.ts";
import { withStore } from "../../store.ts";
import { exportOriginal } from "../../transfer/export-original.ts";
import { openOutput } from "../../transfer/output-file.ts";
import { given } from "../../values.ts";

export const exportSessions: Command = defineCommand({
  name: "export",
  summary: "Write a session in another format, or everything as JSON lines.",
  details:
    'With --all: a line for each session (type "session"), followed by its entries (type "entry", all branches, in the order of writing) and its facts (type "fact"); memories come last (type "memory"). The fields are those of --json. With a session and --format: a file for other agents, or a page for people; losses are counted on standard error. Secrets are masked: to move everything elsewhere, add --raw. For a copy that can be restored, use backup, which masks nothing. With --original: the transcript that the session was ingested from.',
  arguments: [
    { name: "SESSION", optional: true, help: "The session's id; left out with --all." },
    {
      name: "FILE",
      optional: true,
      help: "A file that does not exist yet; standard output if it is - or left out.",
    },
  ],
  options: {
    all: { type: "boolean", help: "Every session, in our own format." },
    project: {
      type: "string",
      value: "NAME",
      help: "With --all: only this project, by its folder's name, the end of its path, or its id; without memories.",
    },
    format: {
      type: "string",
      value: "NAME",
      help: `Of one session: ${FORMATS.map(({ name }) => name).join(", ")}.`,
    },
    full: {
      type: "boolean",
      help: "All messages of a compacted session; the claw formats otherwise write its summary and the messages after it.",
    },
    leaf: { type: "string", value: "ENTRY", help: "The path to this entry, and no other branch." },
    raw: { type: "boolean", help: "Keep secrets as they were written." },
    original: {
      type: "boolean",
      help: "The file that the session was ingested from, byte for byte and unmasked.",
    },
    path: {
      type: "string",
      value: "PATH",
      help: "With --original: which file, if the session was ingested from several.",
    },
  },
  examples: [
    "export --all sessions.jsonl",
    "export --all --raw everything.jsonl",
    "export 5f0c2a91 --format markdown",
    "export 5f0c2a91 --format html page.html",
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
    if (options.all) {
      for (const name of ["format", "leaf", "full"] as const) {
        if (options[name] !== undefined) {
          throw usageError(`--all exports every session; leave out --${name}`, `--${name}`);
        }
      }
      if (args.FILE !== undefined) throw usageError("--all takes one FILE and no SESSION", "FILE");
      return exportAll(context, args.SESSION, options.raw ?? false, options.project);
    }
    if (options.project !== undefined) {
      throw usageError("--project needs --all", "--project");
    }
    if (args.SESSION === undefined) {
      throw usageError("export needs a session and --format, or --all", "--all");
    }
    if (options.format === undefined) {
      const names = FORMATS.map(({ name }) => name).join(", ");
      throw usageError(`export needs --format NAME, one of ${names}`, "--format");
    }
    const format = findFormat(options.format);
    if (options.full && !format.compacts) {
      throw usageError(`${format.name} always has all messages; leave out --full`, "--full");
    }
    const selection = given({ leaf: options.leaf, full: options.full, raw: options.raw });
    return exportOne(context, args.SESSION, format, selection, args.FILE);
  },
});

function exportOne(
  context: Context,
  sessionId: string,
  format: ExportFormat,
  selection: ExportSelection,
  file: string | undefined,
): Promise<number> {
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
    if (output.file === undefined) return EXIT.ok;
    const written = { session_id: handle.id, format: format.name, file: output.file, losses: lost };
    if (context.json) await terminal.printJson(written);
    else await terminal.print(`Exported ${sessionId} to ${output.file}`);
    return EXIT.ok;
  });
}

function exportAll(
  context: Context,
  file: string | undefined,
  raw: boolean,
  project: string | undefined,
): Promise<number> {
  return withStore(context, "read", async (tenant) => {
    const { terminal } = context;
    const progress = new Progress();
    const output = await openOutput(file, terminal);
    const counts = { session: 0, entry: 0, fact: 0, memory: 0 };
    try {
      for await (const record of exportTenant(tenant, given({ project }))) {
        counts[record.type]++;
        await output.write(`${JSON.stringify(toLine(raw ? record : mask(record)))}\n`);
        progress.show(() => `Exported ${formatCount(counts.session)} sessions`);
      }
      await output.finish();
    } finally {
      progress.end();
      await output.discard();
    }
    const { session, entry, fact, memory } = counts;
    if (output.file !== undefined && context.json) {
      const written = { sessions: session, entries: entry, facts: fact, memories: memory };
      await terminal.printJson({ file: output.file, ...written });
    } else if (output.file !== undefined) {
      const parts = [counted(session, "session"), counted(entry, "entry")];
      await terminal.print(`Exported ${parts.join(" with ")} to ${output.file}`);
    }
    return EXIT.ok;
  });
}

function mask(record: ExportedRecord): ExportedRecord {
  switch (record.type) {
    case "session":
      return { type: record.type, session: maskSession(record.session) };
    case "entry":
      return { type: record.type, entry: maskEntry(record.entry) };
    case "fact":
      return { type: record.type, fact: maskFact(record.fact) };
    case "memory":
      return { type: record.type, memory: maskMemory(record.memory) };
  }
}

function toLine(record: ExportedRecord): object {
  switch (record.type) {
    case "session":
      return { type: record.type, ...toWireSession(record.session) };
    case "entry":
      return { type: record.type, ...toWire(ENTRY, record.entry) };
    case "fact":
      return { type: record.type, ...toWire(FACT, record.fact) };
    case "memory":
      return { type: record.type, ...toWire(MEMORY, record.memory) };
  }
}
