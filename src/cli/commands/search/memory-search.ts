import { maskMemory } from "../../../api/mask.ts";
import { toWire } from "../../../api/shape.ts";
import { MEMORY } from "../../../model/note.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";
import { clean } from "../../text.ts";
import { given, toCount } from "../../values.ts";

export const memorySearch: Command = defineCommand({
  name: "memory search",
  aliases: ["search_memory"],
  summary: "Find notes of agents, best first. Exits with 1 if none match.",
  details: "Secrets are masked; memory get shows a note as it is.",
  arguments: [{ name: "QUERY", rest: true, help: "What to look for." }],
  options: {
    agent: { type: "string", value: "NAME", help: "Only this agent's." },
    limit: { type: "string", value: "N", help: "Notes: at most 20, 10 if left out." },
  },
  examples: ["memory search deploy steps --agent coder"],
  run: (context, { QUERY }, options) =>
    withStore(context, "read", async (tenant) => {
      const limit = toCount(options.limit, "--limit");
      const found = await tenant.searchMemory(QUERY, given({ agent: options.agent, limit }));
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
