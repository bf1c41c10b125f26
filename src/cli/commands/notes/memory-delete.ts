import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";

export const memoryDelete: Command = defineCommand({
  name: "memory delete",
  summary: "Delete a note.",
  arguments: [
    { name: "AGENT", help: "The agent that keeps it." },
    { name: "NAME", help: "The note's name." },
  ],
  examples: ["memory delete coder deploy-steps"],
  run: (context, args) =>
    withStore(context, "write", async (tenant) => {
      await tenant.deleteMemory(args.AGENT, args.NAME);
      if (context.json) {
        await context.terminal.printJson({ deleted: { agent: args.AGENT, name: args.NAME } });
      }
      return EXIT.ok;
    }),
});
