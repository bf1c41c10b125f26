import { maskMemory } from "../../../api/mask.ts";
import { toWire } from "../../../api/shape.ts";
import { defined } from "../../../model/defined.ts";
import { MAX_PAGE } from "../../../model/limits.ts";
import { MEMORY } from "../../../model/note.ts";
import { type Command, defineCommand, option, usageError } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { formatTime } from "../../print.ts";
import { printList } from "../../print-list.ts";
import { withStore } from "../../store.ts";
import { clean } from "../../text.ts";
import { readText, toJsonObject } from "../../values.ts";
import { toInput } from "../input-options.ts";

export const memoryList: Command = defineCommand({
  name: "memory list",
  summary: "List the notes that agents keep.",
  options: {
    agent: option("NAME", "Only this agent's."),
    limit: option("N", "Notes on a page: at most 500, which is the default."),
    cursor: option("CURSOR", "Continue after the previous page."),
  },
  examples: ["memory list --agent coder"],
  run: (context, _args, options) =>
    withStore(context, "read", async (tenant) => {
      const { limit = MAX_PAGE, agent } = toInput("listMemories", options);
      const after = parseCursor(options.cursor);
      const memories = await tenant.listMemories({ limit, ...defined({ agent, after }) });
      const last = memories.at(-1);
      const next =
        last === undefined || memories.length < limit ? null : formatCursor(last.agent, last.name);
      return printList(context, {
        json: { memories: toWire([MEMORY], memories), next_cursor: next },
        header: ["AGENT", "NAME", "UPDATED", "CONTENT"],
        rows: memories.map(({ agent, name, updatedAt, content }) => [
          agent,
          name,
          formatTime(updatedAt),
          content,
        ]),
        none: "No memories.",
        more: next && `memory list --cursor ${next}`,
        // A table of notes wider than the screen would be unreadable.
        columns: Math.min(context.terminal.columns, 160),
      });
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

export const memorySearch: Command = defineCommand({
  name: "memory search",
  aliases: ["search_memory"],
  summary: "Find notes of agents, best first. Exits with 1 if none match.",
  details: "Secrets are masked; memory get shows a note as it is.",
  arguments: [{ name: "QUERY", rest: true, help: "What to look for." }],
  options: {
    agent: option("NAME", "Only this agent's."),
    limit: option("N", "Notes: at most 20, 10 if left out."),
  },
  examples: ["memory search deploy steps --agent coder"],
  run: (context, { QUERY }, options) =>
    withStore(context, "read", async (tenant) => {
      const found = await tenant.searchMemory(QUERY, toInput("searchMemory", options));
      const memories = found.map(maskMemory);
      const { terminal } = context;
      if (context.json) await terminal.printJson({ memories: toWire([MEMORY], memories) });
      else if (memories.length === 0) await terminal.print("Nothing found.");
      else {
        for (const { agent, name, content } of memories) {
          await terminal.print(terminal.bold(clean(`${agent} · ${name}`)));
          for (const line of clean(content).split("\n")) await terminal.print(`    ${line}`);
        }
      }
      return memories.length === 0 ? EXIT.nothing : EXIT.ok;
    }),
});

const NOTE = [
  { name: "AGENT", help: "The agent that keeps it." },
  { name: "NAME", help: "The note's name." },
] as const;

export const memoryGet: Command = defineCommand({
  name: "memory get",
  summary: "Print a note.",
  arguments: NOTE,
  examples: ["memory get coder deploy-steps"],
  run: (context, args) =>
    withStore(context, "read", async (tenant) => {
      const memory = await tenant.getMemory(args.AGENT, args.NAME);
      if (context.json) await context.terminal.printJson(toWire(MEMORY, memory));
      else await context.terminal.print(clean(memory.content));
    }),
});

export const memoryPut: Command = defineCommand({
  name: "memory put",
  summary: "Write a note, replacing one of the same name. At most 8 KiB.",
  arguments: [
    ...NOTE,
    { name: "TEXT", optional: true, help: "The text; standard input if it is - or left out." },
  ],
  options: {
    metadata: option("JSON", "A JSON object to keep with it."),
  },
  examples: ['memory put coder deploy-steps "Run the migration first."'],
  run: async (context, args, options) => {
    const metadata = toJsonObject(options.metadata, "--metadata");
    const content = await readText(args.TEXT, context.terminal);
    return withStore(context, "create", async (tenant) => {
      const memory = await tenant.putMemory({
        agent: args.AGENT,
        name: args.NAME,
        content,
        ...defined({ metadata }),
      });
      if (context.json) await context.terminal.printJson(toWire(MEMORY, memory));
    });
  },
});

export const memoryDelete: Command = defineCommand({
  name: "memory delete",
  summary: "Delete a note.",
  arguments: NOTE,
  examples: ["memory delete coder deploy-steps"],
  run: (context, args) =>
    withStore(context, "write", async (tenant) => {
      await tenant.deleteMemory(args.AGENT, args.NAME);
      if (context.json) {
        await context.terminal.printJson({ deleted: { agent: args.AGENT, name: args.NAME } });
      }
    }),
});
