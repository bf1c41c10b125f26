import { maskEntry } from "../../../api/mask.ts";
import { toWire } from "../../../api/shape.ts";
import { ENTRY } from "../../../model/entry.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { formatEntry } from "../../print-entry.ts";
import { withStore } from "../../store.ts";
import { given, toCount } from "../../values.ts";

export const history: Command = defineCommand({
  name: "history",
  summary: "Show the newest messages of a session's active path, in order.",
  details: "Secrets are masked unless --raw is given.",
  arguments: [{ name: "SESSION", help: "The session's id: short, whole, or its agent's own." }],
  options: {
    limit: { type: "string", value: "N", help: "Messages: at most 500, 50 if left out." },
    before: { type: "string", value: "ENTRY", help: "Only messages before this entry." },
    summaries: { type: "boolean", help: "Show compactions before the first entry that they kept." },
    full: { type: "boolean", help: "Show everything in full." },
    raw: { type: "boolean", help: "Show secrets too." },
  },
  examples: ["history 5f0c2a91 --limit 5"],
  run: (context, args, options) =>
    withStore(context, "read", async (tenant) => {
      const handle = await tenant.getSession(args.SESSION);
      const newest = await handle.history({
        ...given({ before: options.before, limit: toCount(options.limit, "--limit") }),
        includeSummaries: options.summaries ?? false,
      });
      const messages = options.raw ? newest : newest.map(maskEntry);
      const { terminal } = context;
      if (context.json) {
        await terminal.printJson({ messages: toWire([ENTRY], messages) });
        return EXIT.ok;
      }
      const style = { full: options.full ?? false, labels: await handle.labels() };
      for (const message of messages) {
        for (const line of formatEntry(message, terminal, style)) await terminal.print(line);
        await terminal.print();
      }
      return EXIT.ok;
    }),
});
