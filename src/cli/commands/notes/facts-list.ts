import { toWire } from "../../../api/shape.ts";
import { MAX_PAGE } from "../../../model/limits.ts";
import { FACT } from "../../../model/note.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { formatTable } from "../../print.ts";
import { commandLine } from "../../program.ts";
import { withStore } from "../../store.ts";
import { given, toCount } from "../../values.ts";

export const factsList: Command = defineCommand({
  name: "facts list",
  summary: "List facts: statements kept beside the conversations that they were taken from.",
  options: {
    session: { type: "string", value: "SESSION", help: "Only those of this session." },
    superseded: { type: "boolean", help: "Also superseded facts." },
    limit: {
      type: "string",
      value: "N",
      help: "Facts on a page: at most 500, which is the default.",
    },
    cursor: { type: "string", value: "FACT", help: "Go on after this fact." },
  },
  examples: ["facts list --session 5f0c2a91"],
  run: (context, _args, options) =>
    withStore(context, "read", async (tenant) => {
      const { session, superseded, cursor } = options;
      const sessionId =
        session === undefined ? undefined : (await tenant.getSessionMeta(session)).id;
      const limit = toCount(options.limit, "--limit") ?? MAX_PAGE;
      const facts = await tenant.listFacts({
        limit,
        ...given({ sessionId, after: cursor, superseded }),
      });
      const next = facts.length < limit ? null : (facts.at(-1)?.id ?? null);
      const { terminal } = context;
      if (context.json) {
        await terminal.printJson({
          facts: toWire([FACT], facts),
          next_cursor: next,
        });
        return EXIT.ok;
      }
      if (facts.length === 0) {
        await terminal.print("No facts.");
        return EXIT.ok;
      }
      const rows = facts.map((fact) => [
        fact.id,
        String(fact.confidence),
        `${fact.subject} · ${fact.predicate} · ${fact.object}${fact.supersededBy === null ? "" : " (superseded)"}`,
      ]);
      const header = ["FACT", "CONFIDENCE", "SUBJECT · PREDICATE · OBJECT"];
      for (const line of formatTable(header, rows, terminal.columns)) await terminal.print(line);
      if (next !== null)
        terminal.note(`More: ${commandLine(context, `facts list --cursor ${next}`)}`);
      return EXIT.ok;
    }),
});
