import { toWire } from "../../../api/shape.ts";
import { ENTRY } from "../../../model/entry.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { readText } from "../../stdin.ts";
import { withStore } from "../../store.ts";
import { given } from "../../values.ts";

export const edit: Command = defineCommand({
  name: "edit",
  summary: "Replace a message by a new one beside it, and print the new one's id.",
  details:
    "Nothing is overwritten: the old message, and what followed it, stay on their own branch.",
  arguments: [
    { name: "SESSION", help: "The session's id: short, whole, or its agent's own." },
    { name: "ENTRY", help: "The message to replace." },
    { name: "TEXT", optional: true, help: "The text; standard input if it is - or left out." },
  ],
  options: {
    actor: { type: "string", value: "NAME", help: "The actor; the same if left out." },
  },
  examples: ['edit 5f0c2a91 01JZ8Q9D2M "Why does the backup job run twice?"'],
  run: async (context, args, options) => {
    const text = await readText(args.TEXT, context.terminal);
    return withStore(context, "write", async (tenant) => {
      const handle = await tenant.getSession(args.SESSION);
      const entry = await handle.edit(args.ENTRY, text, given({ actor: options.actor }));
      if (context.json) await context.terminal.printJson(toWire(ENTRY, entry));
      else await context.terminal.print(entry.id);
      return EXIT.ok;
    });
  },
});
