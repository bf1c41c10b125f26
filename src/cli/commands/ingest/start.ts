import { hidePasswords } from "../../../api/address.ts";
import { toWireTotals } from "../../../api/ingest.ts";
import { ingest } from "../../../archive/ingest.ts";
import { type Command, defineCommand } from "../../command.ts";
import { thisMachine } from "../../environment.ts";
import { EXIT } from "../../exit.ts";
import { IngestProgress } from "../../ingest-progress.ts";
import { counted } from "../../print.ts";
import { summaryLines } from "../../print-ingest.ts";
import { commandLine } from "../../program.ts";
import { withStore } from "../../store.ts";

export const start: Command = defineCommand({
  name: "start",
  summary: "Ingest what agents have written on this machine, and say what to try next.",
  details: "What backscroll does without a command.",
  examples: ["start"],
  run: (context) =>
    withStore(
      context,
      "create",
      async (tenant) => {
        const { terminal } = context;
        const started = performance.now();
        const progress = new IngestProgress();
        const input = { environment: thisMachine() };
        await progress.prepare(tenant, input);
        const report = await ingest(tenant, {
          ...input,
          onProgress: (totals) => progress.show(totals),
        }).finally(() => progress.end());
        const { sessions = 0, messages = 0 } = (await tenant.tenantStatus()) ?? {};
        const words = sessions === 0 ? ["demo", "ingest FOLDER", "--help"] : NEXT;
        const next = words.map((each) => commandLine(context, each));
        const address = hidePasswords(context.address);
        if (context.json) {
          await terminal.printJson({
            ...{ db: address, sessions, messages, totals: toWireTotals(report.totals), next },
          });
          return EXIT.ok;
        }
        if (report.totals.found === 0) {
          await terminal.print("No agent that we know has transcripts on this machine.");
        } else {
          const seconds = (performance.now() - started) / 1000;
          for (const line of summaryLines(report, seconds)) await terminal.print(line);
        }
        const holds = `${counted(sessions, "session")}, ${counted(messages, "message")}`;
        await terminal.print(`${terminal.dim("Store")}  ${address}: ${holds}`);
        await terminal.print();
        await terminal.print(sessions === 0 ? "See what it does with examples:" : "Try next:");
        for (const line of next) await terminal.print(`  ${line}`);
        return EXIT.ok;
      },
      "bulk",
    ),
});

/** Three commands that show something at once. */
const NEXT = ["search 'how did we fix the build'", "list --since 7d", "stats"];
