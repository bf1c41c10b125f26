import { maskText } from "../../../api/mask.ts";
import { toWire } from "../../../api/shape.ts";
import { SUMMARY } from "../../../model/answers/context.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { formatTable, formatTime } from "../../print.ts";
import { withStore } from "../../store.ts";

export const summaries: Command = defineCommand({
  name: "summaries",
  summary: "List every summary of a session, compactions included, and which of them are stale.",
  details:
    "A summary is stale if a covered message was edited or regenerated since. Open one with show. Secrets are masked.",
  arguments: [{ name: "SESSION", help: "The session's id: short, whole, or its agent's own." }],
  examples: ["summaries 5f0c2a91"],
  run: (context, args) =>
    withStore(context, "read", async (tenant) => {
      const handle = await tenant.getSession(args.SESSION);
      const written = await handle.summaries();
      const all = written.map((summary) => ({ ...summary, text: maskText(summary.text) }));
      const { terminal } = context;
      if (context.json) {
        await terminal.printJson({ summaries: toWire([SUMMARY], all) });
        return EXIT.ok;
      }
      if (all.length === 0) {
        await terminal.print("No summaries.");
        return EXIT.ok;
      }
      const rows = all.map(({ id, kind, createdAt, tokens, stale, text }) => [
        id,
        kind,
        formatTime(createdAt),
        String(tokens),
        stale ? "stale" : "",
        text,
      ]);
      const header = ["SUMMARY", "KIND", "WRITTEN", "TOKENS", "", "TEXT"];
      for (const line of formatTable(header, rows, terminal.columns)) await terminal.print(line);
      return EXIT.ok;
    }),
});
