import type { OwnerDeletion } from "../../../engine/owned/forget-owner.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { counted } from "../../print.ts";
import { Progress } from "../../progress.ts";
import { refuseServer, withOwnTenant } from "../../store.ts";
import { accessToDelete, confirmDeletion } from "../sessions/delete.ts";
import { noteLogs } from "../store/doctor.ts";

/** Everything of one owner: counts it, asks, and deletes it. */
export async function forgetOwner(
  context: Context,
  owner: string,
  { isDry, yes }: { readonly isDry: boolean; readonly yes: boolean },
): Promise<number> {
  refuseServer(context, "--owner", "run it where the store is");
  const { terminal, json } = context;
  const access = isDry ? "read" : accessToDelete(context, yes);
  let isDone = false;
  const code = await withOwnTenant(context, access, async (tenant) => {
    const progress = new Progress();
    const run = (dryRun: boolean) =>
      tenant
        .owned(owner)
        .forget({
          dryRun,
          onProgress: (counts) => progress.show(() => describe(counts).join(", ")),
        })
        .finally(() => progress.end());
    const print = async (verb: string, counts: OwnerDeletion) => {
      if (json) return terminal.printJson({ dry_run: isDry, owner, ...counts });
      const [first = "nothing", ...others] = describe(counts);
      await terminal.print(`${verb}: ${[first, ...others].join(", ")}.`);
      if (counts.summaries === 0) return;
      const summaries = counted(counts.summaries, "session");
      await terminal.print(`Summaries of ${summaries} of others stay, and may quote ${owner}.`);
    };
    if (isDry || !yes) {
      const planned = await run(true);
      const isEmpty = describe(planned).length === 0;
      if (isDry || isEmpty || !json) await print(`Of ${owner}`, planned);
      if (isDry || isEmpty) return isEmpty ? EXIT.nothing : EXIT.ok;
      if (!(await confirmDeletion(context, "all of it"))) return EXIT.nothing;
    }
    const deleted = await run(false);
    isDone = true;
    await print("Forgot", deleted);
    return describe(deleted).length === 0 ? EXIT.nothing : EXIT.ok;
  });
  if (isDone) noteLogs(context);
  return code;
}

function describe(counts: OwnerDeletion): string[] {
  const { sessions, entries, facts, memories, records, routes, tokens, participations } = counts;
  const parts: readonly (readonly [number, string])[] = [
    [sessions, "session"],
    [entries, "message"],
    [participations, "participation"],
    [facts, "fact"],
    [memories, "memory"],
    [records, "record"],
    [routes, "route"],
    [tokens, "token"],
  ];
  return parts.flatMap(([count, noun]) => (count === 0 ? [] : [counted(count, noun)]));
}
