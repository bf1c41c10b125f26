import { toWire } from "../../../api/shape.ts";
import { SWEEP } from "../../../model/answers/store.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { counted } from "../../print.ts";
import { withStore } from "../../store.ts";

export const sweep: Command = defineCommand({
  name: "sweep",
  summary: "Delete expired sessions and records, and abort messages of dead writers.",
  details:
    "Also completes interrupted erasures of summarised messages. Sweeps run on request only: run this from a timer if you use --ttl or --retention.",
  options: { all: { type: "boolean", help: "Sweep every tenant." } },
  examples: ["sweep --all"],
  run: (context, _args, options) =>
    withStore(context, "write", async (tenant, engine) => {
      const result = options.all ? await engine.sweepAll() : await tenant.sweep();
      const { terminal } = context;
      if (context.json) {
        await terminal.printJson(toWire(SWEEP, result));
        return EXIT.ok;
      }
      const deleted = counted(result.deletedSessions.length, "session");
      const aborted = counted(result.abortedMessages.length, "message");
      const erased = counted(result.erasedEntries, "entry");
      const forgot = result.erasedEntries === 0 ? "" : `, erased the content of ${erased}`;
      const { deletedRecords } = result;
      const expired = deletedRecords === 0 ? "" : `, ${counted(deletedRecords, "record")}`;
      await terminal.print(`Deleted ${deleted}${expired}, ended ${aborted}${forgot}.`);
      return EXIT.ok;
    }),
});
