import { toWire } from "../../../api/shape.ts";
import { MAX_PAGE } from "../../../model/limits.ts";
import { MEMORY } from "../../../model/note.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { formatTable, formatTime } from "../../print.ts";
import { commandLine } from "../../program.ts";
import { withStore } from "../../store.ts";
import { given, toCount } from "../../values.ts";

export const memoryList: Command = defineCommand({
  name: "memory list",
  summary: "List the notes that agents keep.",
  options: {
    agent: { type: "string", value: "NAME", help: "Only this agent's." },
    limit: {
      type: "string",
      value: "N",
      help: "Notes on a page: at most 500, which is the default.",
    },
    cursor: { type: "string", value: "CURSOR", help: "Continue after the previous page." },
  },
  examples: ["memory list --agent coder"],
  run: (context, _args, options) =>
    withStore(context, "read", async (tenant) => {
      const limit = toCount(options.limit, "--limit") ?? MAX_PAGE;
      const after = parseCursor(options.cursor);
      const memories = await tenant.listMemories({
        limit,
        ...given({ agent: options.agent, after }),
      });
      const last = memories.at(-1);
      const next =
        last === undefined || memories.length < limit ? null : formatCursor(last.agent, last.name);
      const { terminal } = context;
      if (context.json) {
        await terminal.printJson({
          memories: toWire([MEMORY], memories),
          next_cursor: next,
        });
        return EXIT.ok;
      }
      if (memories.length === 0) {
        await terminal.print("No memories.");
        return EXIT.ok;
      }
      const rows = memories.map((memory) => [
        memory.agent,
        memory.name,
        formatTime(memory.updatedAt),
        memory.content,
      ]);
      const header = ["AGENT", "NAME", "UPDATED", "CONTENT"];
      // A table of notes wider than the screen would be unreadable.
      const columns = Math.min(terminal.columns, 160);
      for (const line of formatTable(header, rows, columns)) await terminal.print(line);
      if (next !== null)
        terminal.note(`More: ${commandLine(context, `memory list --cursor ${next}`)}`);
      return EXIT.ok;
    }),
});

function formatCursor(agent: string, name: string): string {
  return Buffer.from(JSON.stringify([agent, name])).toString("base64url");
}

function parseCursor(cursor: string | undefined): { agent: string; name: string } | undefined {
  if (cursor === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    const [agent, name] = value as [unknown, unknown];
    if (typeof agent === "string" && typeof name === "string") return { agent, name };
  } catch {
    // Not ours: fall through.
  }
  throw usageError(
    "--cursor must be one that memory list printed; leave it out for the first page",
    "--cursor",
  );
}
