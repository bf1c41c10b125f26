import { toWireSummary } from "../../../api/context.ts";
import { maskText } from "../../../api/mask.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";
import { SUMMARIZER_OPTIONS, toSummarizerInput } from "./summarizer-options.ts";

export const summarize: Command = defineCommand({
  name: "summarize",
  summary: "Write a summary of a session, and keep it beside the conversation.",
  details:
    "What the model is given stays as it is; compact changes that. It covers what no compaction covers and carries the last summary. Secrets are masked in what is shown. Exits with 1 if there is nothing to summarise.",
  arguments: [{ name: "SESSION", help: "The session's id: short, whole, or its agent's own." }],
  options: {
    through: {
      type: "string",
      value: "ENTRY",
      help: "The last entry to cover; the newest if left out.",
    },
    ...SUMMARIZER_OPTIONS,
  },
  examples: ["summarize 5f0c2a91"],
  run: (context, args, options) =>
    withStore(context, "write", async (tenant) => {
      const handle = await tenant.getSession(args.SESSION);
      const written = await handle.summarize(options.through, toSummarizerInput(options));
      const summary = { ...written, text: maskText(written.text) };
      if (context.json) await context.terminal.printJson(toWireSummary(summary));
      else await context.terminal.print(summary.text);
      return EXIT.ok;
    }),
});
