import { toWire } from "../../../api/shape.ts";
import { MEMORY } from "../../../model/note.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";
import { clean } from "../../text.ts";

export const memoryGet: Command = defineCommand({
  name: "memory get",
  summary: "Print a note.",
  arguments: [
    { name: "AGENT", help: "The agent that keeps it." },
    { name: "NAME", help: "The note's name." },
  ],
  examples: ["memory get coder deploy-steps"],
  run: (context, args) =>
    withStore(context, "read", async (tenant) => {
      const memory = await tenant.getMemory(args.AGENT, args.NAME);
      if (context.json) await context.terminal.printJson(toWire(MEMORY, memory));
      else await context.terminal.print(clean(memory.content));
      return EXIT.ok;
    }),
});
