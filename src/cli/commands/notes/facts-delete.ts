import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";

export const factsDelete: Command = defineCommand({
  name: "facts delete",
  summary: "Delete a fact.",
  arguments: [{ name: "FACT", help: "The fact's id." }],
  examples: ["facts delete 01JZ8R0C5T"],
  run: (context, args) =>
    withStore(context, "write", async (tenant) => {
      await tenant.deleteFact(args.FACT);
      if (context.json) await context.terminal.printJson({ deleted: { fact: args.FACT } });
      return EXIT.ok;
    }),
});
