import { hidePasswords } from "../../../api/error.ts";
import { toWireTotals } from "../../../api/ingest.ts";
import { ingest } from "../../../archive/ingest.ts";
import type { TenantApi } from "../../../engine/interfaces.ts";
import { thisMachine } from "../../../ingest/identity/identity.ts";
import { type Command, defineCommand } from "../../command.ts";
import { counted } from "../../print.ts";
import { IngestProgress, summaryLines } from "../../print-ingest.ts";
import { commandLine } from "../../program.ts";
import { withStore } from "../../store.ts";

export const start: Command = defineCommand({
  name: "start",
  summary: "Ingest this machine's transcripts, and suggest what to try next.",
  details: "The default without a command.",
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
        const words = await nextSteps(tenant, messages);
        const next = words.map((each) => commandLine(context, each));
        const address = hidePasswords(context.address);
        if (context.json)
          return terminal.printJson({
            db: address,
            sessions,
            messages,
            totals: toWireTotals(report.totals),
            next,
          });
        const seconds = (performance.now() - started) / 1000;
        const places = commandLine(context, "ingest --places");
        for (const line of summaryLines(report, seconds, input, places)) await terminal.print(line);
        const holds = `${counted(sessions, "session")}, ${counted(messages, "message")}`;
        await terminal.print(`${terminal.dim("Store")}  ${address}: ${holds}`);
        await terminal.print();
        await terminal.print(messages === 0 ? "Try it with examples:" : "Try next:");
        for (const line of next) await terminal.print(`  ${line}`);
      },
      "bulk",
    ),
});

/** Commands that give a result at once; a search only with existing words. */
async function nextSteps(tenant: TenantApi, messages: number): Promise<string[]> {
  if (messages === 0) return ["demo", "ingest FOLDER", "--help"];
  const { sessions } = await tenant.listSessions({ limit: 20 });
  const words = sessions.map(({ title }) => wordsOf(title)).find((found) => found.length > 1);
  return [...(words === undefined ? [] : [`search '${words.join(" ")}'`]), "list", "stats"];
}

/** A few words of a title that also occur in its session. */
function wordsOf(title: string): string[] {
  return (title.match(/\p{L}{4,}/gu) ?? []).slice(0, 3);
}
