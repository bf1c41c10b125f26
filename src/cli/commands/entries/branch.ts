import { toWireSession } from "../../../api/session.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";
import { given } from "../../values.ts";

export const branch: Command = defineCommand({
  name: "branch",
  summary: "Make an entry the active leaf, so that the next append continues from there.",
  details: "Later entries stay on their own branch: show SESSION --tree has all branches.",
  arguments: [
    { name: "SESSION", help: "The session's id: short, whole, or its agent's own." },
    { name: "ENTRY", help: "The entry's id, or root to start over." },
  ],
  options: {
    summary: {
      type: "string",
      value: "TEXT",
      help: "A summary of the abandoned path, for the model.",
    },
  },
  examples: ["branch 5f0c2a91 01JZ8Q9D2M"],
  run: (context, args, options) =>
    withStore(context, "write", async (tenant) => {
      const handle = await tenant.getSession(args.SESSION);
      const entry = args.ENTRY === "root" ? null : args.ENTRY;
      await handle.branch(entry, given({ summary: options.summary }));
      if (context.json) await context.terminal.printJson(toWireSession(await handle.meta()));
      return EXIT.ok;
    }),
});
