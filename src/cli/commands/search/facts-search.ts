import { maskFact } from "../../../api/mask.ts";
import { toWire } from "../../../api/shape.ts";
import { FACT } from "../../../model/note.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { formatTable } from "../../print.ts";
import { withStore } from "../../store.ts";
import { given, toCount } from "../../values.ts";

export const factsSearch: Command = defineCommand({
  name: "facts search",
  summary: "Find current facts, best first. Exits with 1 if none match.",
  details: "Secrets are masked; facts list shows facts as they are.",
  arguments: [{ name: "QUERY", rest: true, help: "What to look for." }],
  options: {
    limit: { type: "string", value: "N", help: "Facts: at most 20, 10 if left out." },
  },
  examples: ["facts search favourite editor"],
  run: (context, { QUERY }, options) =>
    withStore(context, "read", async (tenant) => {
      const limit = toCount(options.limit, "--limit");
      const facts = (await tenant.searchFacts(QUERY, given({ limit }))).map(maskFact);
      const { terminal } = context;
      if (context.json) await terminal.printJson({ facts: toWire([FACT], facts) });
      else if (facts.length === 0) await terminal.print("Nothing found.");
      else {
        const rows = facts.map(({ id, subject, predicate, object }) => [
          id,
          subject,
          predicate,
          object,
        ]);
        const header = ["FACT", "SUBJECT", "PREDICATE", "OBJECT"];
        for (const line of formatTable(header, rows, terminal.columns)) await terminal.print(line);
      }
      return facts.length === 0 ? EXIT.nothing : EXIT.ok;
    }),
});
