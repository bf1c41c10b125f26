import { type Command, defineCommand, usageError } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";

export const label: Command = defineCommand({
  name: "label",
  summary: "Label an entry.",
  arguments: [
    { name: "SESSION", help: "The session's id: short, whole, or its agent's own." },
    { name: "ENTRY", help: "The entry's id." },
    { name: "LABEL", optional: true, help: "The label." },
  ],
  options: { remove: { type: "boolean", help: "Remove the label." } },
  examples: ['label 5f0c2a91 01JZ8Q9D2M "before the rewrite"'],
  run: (context, args, options) => {
    if ((args.LABEL === undefined) !== (options.remove === true)) {
      throw usageError("label needs either LABEL or --remove", "LABEL");
    }
    return withStore(context, "write", async (tenant) => {
      const handle = await tenant.getSession(args.SESSION);
      await handle.label(args.ENTRY, args.LABEL ?? null);
      if (context.json) {
        await context.terminal.printJson({ labels: Object.fromEntries(await handle.labels()) });
      }
      return EXIT.ok;
    });
  },
});
