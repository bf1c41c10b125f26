import { BackscrollError } from "../../../model/errors.ts";
import { type Injection, readLog, setFlags, settleUse } from "../../../unasked/log.ts";
import { type Command, defineCommand, option } from "../../command.ts";
import { formatTime } from "../../print.ts";
import { withStore } from "../../store.ts";
import { clean } from "../../text.ts";
import { toNumber } from "../../values.ts";

const LISTED = 20;

export const unaskedLog: Command = defineCommand({
  name: "unasked log",
  summary: "List what memory said unasked, and what it only noted down.",
  details:
    "Used: the agent then ran the command, or opened the session. What was unused twice is not said again. --json has the whole texts.",
  options: { limit: option("COUNT", `At most so many, the newest; ${LISTED} if left out.`) },
  examples: ["unasked log", "unasked log --limit 100 --json"],
  run: (context, _args, options) =>
    withStore(context, "write", async (tenant) => {
      const limit = toNumber(options.limit, "--limit") ?? LISTED;
      const log = await settleUse(tenant, await readLog(tenant, limit));
      const { terminal } = context;
      if (context.json) return terminal.printJson({ injections: log });
      if (log.length === 0) return terminal.print("Memory has said nothing unasked.");
      for (const each of log) {
        const { number, at, moment, agent, text } = each;
        const head = `${number}  ${formatTime(at)}  ${moment}, to ${agent}: ${statusOf(each)}`;
        await terminal.print(terminal.bold(clean(head)));
        for (const line of text.split("\n").slice(1, -1)) await terminal.print(`   ${clean(line)}`);
      }
    }),
});

function statusOf({ said, used, unwanted }: Injection): string {
  if (unwanted) return "unwanted";
  return said ? (used ? "used" : "said") : "noted";
}

export const unaskedNo: Command = defineCommand({
  name: "unasked no",
  summary: "Say that something should not be said again.",
  arguments: [{ name: "N", help: "Its number in unasked log." }],
  examples: ["unasked no 17"],
  run: (context, { N: named }) =>
    withStore(context, "write", async (tenant) => {
      const number = toNumber(named, "N") ?? 0;
      const found = await setFlags(tenant, number, { unwanted: true });
      if (found === undefined) {
        throw new BackscrollError("record_not_found", `unasked log has no number ${number}`, {
          details: { number },
        });
      }
      if (context.json) return context.terminal.printJson({ unwanted: found });
      await context.terminal.print(`Not again: ${clean(found.person)}`);
    }),
});
