import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";

export const pin: Command = defineCommand({
  name: "pin",
  summary: "Pin an entry: it stays in every context, and is never summarised.",
  arguments: [
    { name: "SESSION", help: "The session's id: short, whole, or its agent's own." },
    { name: "ENTRY", help: "The entry's id." },
  ],
  options: { off: { type: "boolean", help: "Remove the pin." } },
  examples: ["pin 5f0c2a91 01JZ8Q9D2M", "pin 5f0c2a91 01JZ8Q9D2M --off"],
  run: (context, args, options) =>
    withStore(context, "write", async (tenant) => {
      const handle = await tenant.getSession(args.SESSION);
      if (options.off) await handle.unpin(args.ENTRY);
      else await handle.pin(args.ENTRY);
      const pinned = !options.off;
      if (context.json) await context.terminal.printJson({ entry_id: args.ENTRY, pinned });
      return EXIT.ok;
    }),
});
