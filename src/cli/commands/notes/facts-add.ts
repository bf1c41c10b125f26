import { toWire } from "../../../api/shape.ts";
import { FACT } from "../../../model/note.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStore } from "../../store.ts";
import { given, toNumber } from "../../values.ts";

export const factsAdd: Command = defineCommand({
  name: "facts add",
  summary: "Add a fact to a session and print its id.",
  arguments: [
    { name: "SESSION", help: "The session's id: short, whole, or its agent's own." },
    { name: "SUBJECT", help: "The person or thing it is about." },
    { name: "PREDICATE", help: "The relation." },
    { name: "OBJECT", help: "The object." },
  ],
  options: {
    source: { type: "string", value: "ENTRY", help: "The entry that it was taken from." },
    confidence: { type: "string", value: "N", help: "From 0 to 1, which is the default." },
  },
  examples: ['facts add 5f0c2a91 "cron job" "is locked by" /var/lock/cron'],
  run: (context, args, options) =>
    withStore(context, "write", async (tenant) => {
      const handle = await tenant.getSession(args.SESSION);
      const facts = await handle.addFacts([
        {
          subject: args.SUBJECT,
          predicate: args.PREDICATE,
          object: args.OBJECT,
          ...given({ sourceEntry: options.source }),
          ...given({ confidence: toNumber(options.confidence, "--confidence") }),
        },
      ]);
      for (const fact of facts) {
        if (context.json) await context.terminal.printJson(toWire(FACT, fact));
        else await context.terminal.print(fact.id);
      }
      return EXIT.ok;
    }),
});
