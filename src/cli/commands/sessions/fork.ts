import { toWireSession } from "../../../api/session.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";
import { given } from "../../values.ts";

export const fork: Command = defineCommand({
  name: "fork",
  summary: "Copy a session's path into a new session and print its id.",
  details: "Title, metadata, agent and participants come along. The original does not change.",
  arguments: [{ name: "SESSION", help: "The session's id: short, whole, or its agent's own." }],
  options: {
    through: { type: "string", value: "ENTRY", help: "The last entry to copy; all if left out." },
    by: {
      type: "string",
      value: "NAME",
      help: "The fork's creator; the original's owner if left out.",
    },
    title: { type: "string", value: "TEXT", help: "The new session's title." },
    id: { type: "string", value: "ID", help: "An id of your own; a new one if left out." },
  },
  examples: ["fork 5f0c2a91 --by ana"],
  run: (context, args, options) =>
    withStore(context, "write", async (tenant) => {
      const handle = await tenant.getSession(args.SESSION);
      const { through, by, title, id } = options;
      const createdBy = by ?? (await handle.meta()).owner;
      const forked = await handle.fork({ createdBy, ...given({ through, title, id }) });
      const { terminal } = context;
      if (context.json) await terminal.printJson(toWireSession(await forked.meta()));
      else await terminal.print(forked.id);
      return EXIT.ok;
    }),
});
