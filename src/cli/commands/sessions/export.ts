import { toWireEntry } from "../../../api/entry.ts";
import { maskEntry, maskFact, maskMemory, maskSession } from "../../../api/mask.ts";
import { toWireFact, toWireMemory } from "../../../api/note.ts";
import { toWireSession } from "../../../api/session.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { type ExportedRecord, exportTenant } from "../../export-tenant.ts";
import { openOutput } from "../../output-file.ts";
import { counted, formatCount } from "../../print.ts";
import { Progress } from "../../progress.ts";
import { withStore } from "../../store.ts";

export const exportSessions: Command = defineCommand({
  name: "export",
  summary: "Write everything that a tenant holds as JSON lines.",
  details:
    'A line for each session (type "session"), followed by its entries (type "entry", all branches, in the order of writing) and its facts (type "fact"); memories come last (type "memory"). The fields are those of --json. Secrets are masked: to move everything elsewhere, add --raw. For a copy that can be restored, use backup, which masks nothing.',
  arguments: [
    {
      name: "FILE",
      optional: true,
      help: "A file that does not exist yet; standard output if it is - or left out.",
    },
  ],
  options: {
    all: { type: "boolean", help: "Every session. Required." },
    raw: { type: "boolean", help: "Keep secrets as they were written." },
  },
  examples: ["export --all sessions.jsonl", "export --all --raw everything.jsonl"],
  run: (context, args, options) => {
    if (!options.all) throw usageError("export needs --all", "--all");
    return withStore(context, "read", async (tenant) => {
      const { terminal } = context;
      const progress = new Progress();
      const output = await openOutput(args.FILE, terminal);
      const counts = { session: 0, entry: 0, fact: 0, memory: 0 };
      try {
        for await (const record of exportTenant(tenant)) {
          counts[record.type]++;
          await output.write(`${JSON.stringify(toLine(options.raw ? record : mask(record)))}\n`);
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
  },
});

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
      return { type: record.type, ...toWireEntry(record.entry) };
    case "fact":
      return { type: record.type, ...toWireFact(record.fact) };
    case "memory":
      return { type: record.type, ...toWireMemory(record.memory) };
  }
}
