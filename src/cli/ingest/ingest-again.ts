/** `ingest --again`: derives sessions again from the kept bytes of their files. */

import { deriveAgain } from "../../archive/derive-again.ts";
import type { FileOutcome } from "../../archive/outcome.ts";
import { thisMachine } from "../../ingest/identity/this-machine.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { counted } from "../print.ts";
import { Progress } from "../progress.ts";
import { withStore } from "../store.ts";
import { flushAfterIngest } from "./flush-index.ts";

export function ingestAgain(context: Context, force: boolean): Promise<number> {
  return withStore(
    context,
    "write",
    async (tenant) => {
      const progress = new Progress();
      const failures: FileOutcome[] = [];
      let files = 0;
      const report = await deriveAgain(tenant, {
        environment: thisMachine(),
        force,
        onOutcome: (outcome) => {
          files++;
          progress.show(() => `Read ${counted(files, "file")}`);
          if (!["read", "continued", "ignored"].includes(outcome.how)) failures.push(outcome);
        },
      });
      await flushAfterIngest(context, tenant);
      progress.end();
      const { terminal } = context;
      if (context.json) {
        await terminal.printJson({
          ...report,
          failures: failures.map(({ path, how, message }) => ({ path, how, message })),
        });
      } else {
        const { originals, read, sessions, extended } = report;
        await terminal.print(
          `Read ${counted(read, "file")} of ${originals} kept: ${counted(sessions, "session")} derived again.`,
        );
        if (extended > 0) {
          await terminal.print(
            `${counted(extended, "session")} with messages of their own got only new entries.`,
          );
        }
        for (const { path, how, message } of failures) terminal.note(`${path}: ${message ?? how}`);
      }
      return failures.length === 0 ? EXIT.ok : EXIT.damaged;
    },
    "bulk",
  );
}
