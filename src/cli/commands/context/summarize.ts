import { maskText } from "../../../api/mask.ts";
import { toWire } from "../../../api/shape.ts";
import { SUMMARY } from "../../../model/answers/context.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";
import { SUMMARIZER_OPTIONS, toSummarizerInput } from "./summarizer-options.ts";

export const summarize: Command = defineCommand({
  name: "summarize",
  summary: "Write a summary of a session beside the conversation.",
  details:
    "Contexts do not change; compact changes them. It covers the messages after the last compaction and includes its summary. Secrets are masked in the output. Exits with 1 if there is nothing to summarise.",
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
      if (context.json) await context.terminal.printJson(toWire(SUMMARY, summary));
      else await context.terminal.print(summary.text);
      return EXIT.ok;
    }),
});
