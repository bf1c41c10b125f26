import { toWireRecalled } from "../../../api/context.ts";
import { maskEntry, maskFact } from "../../../api/mask.ts";
import { RECALL_SCOPES, type Recalled } from "../../../engine/context/recall.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { formatEntry } from "../../print-entry.ts";
import { withStore } from "../../store.ts";
import { given, toChoice, toCount } from "../../values.ts";

export const recall: Command = defineCommand({
  name: "recall",
  summary: "Find messages and facts of a session that match a question.",
  details: "Secrets are masked unless --raw is given. Exits with 1 if nothing is found.",
  arguments: [
    { name: "SESSION", help: "The session's id: short, whole, or its agent's own." },
    { name: "QUESTION", rest: true, help: "Words or a whole question." },
  ],
  options: {
    k: { type: "string", value: "N", help: "The limit of results: at most 20; 8 if left out." },
    scope: {
      type: "string",
      value: "SCOPE",
      help: "session (the default), owner (all sessions of its owner) or tenant.",
    },
    full: { type: "boolean", help: "Show everything in full." },
    raw: { type: "boolean", help: "Show secrets too." },
  },
  examples: ["recall 5f0c2a91 why does the cron job run twice"],
  run: (context, args, options) =>
    withStore(context, "read", async (tenant) => {
      const handle = await tenant.getSession(args.SESSION);
      const found: Recalled[] = [];
      const input = given({
        k: toCount(options.k, "--k"),
        scope: toChoice(options.scope, RECALL_SCOPES, "--scope"),
      });
      for await (const item of handle.recall(args.QUESTION, input)) {
        found.push(options.raw ? item : mask(item));
      }
      const { terminal } = context;
      const code = found.length === 0 ? EXIT.nothing : EXIT.ok;
      if (context.json) {
        await terminal.printJson({ recalled: found.map(toWireRecalled) });
        return code;
      }
      if (found.length === 0) await terminal.print("Nothing found.");
      const style = { full: options.full ?? false, labels: new Map<string, string>() };
      for (const item of found) {
        if (item.type === "fact") {
          const { subject, predicate, object } = item.fact;
          await terminal.print(`fact · ${subject} · ${predicate} · ${object}`);
        } else {
          for (const line of formatEntry(item.entry, terminal, style)) await terminal.print(line);
        }
        await terminal.print();
      }
      return code;
    }),
});

function mask(item: Recalled): Recalled {
  if (item.type === "fact") return { ...item, fact: maskFact(item.fact) };
  return { ...item, entry: maskEntry(item.entry) };
}
