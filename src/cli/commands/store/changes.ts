import { toWire } from "../../../api/shape.ts";
import type { TenantApi } from "../../../engine/interfaces.ts";
import type { Change } from "../../../model/change.ts";
import { CHANGE } from "../../../model/change.ts";
import { defined } from "../../../model/defined.ts";
import { type Command, defineCommand, flag, option, usageError } from "../../command.ts";
import type { Context } from "../../context.ts";
import { formatTime } from "../../print.ts";
import { commandLine } from "../../program.ts";
import { withStore } from "../../store.ts";
import { oneLine } from "../../text.ts";
import { toInput } from "../input-options.ts";

export const changes: Command = defineCommand({
  name: "changes",
  summary: "Show the change feed, in commit order.",
  details:
    'It is the audit log: ids and kinds, never content. With --follow it waits for further changes until interrupted; --json then prints one JSON document a line. A cursor resumes without gap or repeat; "start" is the beginning.',
  options: {
    session: option("SESSION", "Only the changes of this session."),
    after: option(
      "CURSOR",
      "The cursor of the last change seen. Left out: the beginning, or with --follow, now.",
    ),
    limit: option("N", "Changes on a page: at most 500, 50 if left out."),
    follow: flag("Continue as changes happen."),
  },
  examples: ["changes --after start --follow"],
  run: (context, _args, options) =>
    withStore(context, "read", async (tenant) => {
      const input = toInput("listChanges", options);
      if (options.follow) {
        const { session, after, limit } = input;
        if (limit !== undefined) throw usageError("--follow takes no --limit", "--limit");
        const id = session === undefined ? undefined : (await tenant.getSessionMeta(session)).id;
        return follow(context, tenant, defined({ session: id, after }));
      }
      const page = await tenant.listChanges(input);
      const { terminal } = context;
      if (context.json) {
        const { next, end } = page;
        return terminal.printJson({ changes: toWire([CHANGE], page.changes), next, end });
      }
      for (const change of page.changes) await terminal.print(formatChange(change));
      if (!page.end) terminal.note(`More: ${commandLine(context, `changes --after ${page.next}`)}`);
    }),
});

async function follow(
  context: Context,
  tenant: TenantApi,
  input: { session?: string; after?: string },
): Promise<void> {
  const { terminal } = context;
  const stop = new AbortController();
  const abort = () => stop.abort();
  process.once("SIGINT", abort).once("SIGTERM", abort);
  try {
    for await (const change of tenant.subscribe({ ...input, signal: stop.signal })) {
      await terminal.print(
        context.json ? JSON.stringify(toWire(CHANGE, change)) : formatChange(change),
      );
    }
  } finally {
    process.off("SIGINT", abort).off("SIGTERM", abort);
  }
}

function formatChange(change: Change): string {
  const details = Object.entries(change.details).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const parts = [
    String(change.position).padStart(6),
    formatTime(change.at),
    change.kind.padEnd(16),
    change.sessionId,
    change.entryId,
    ...details.map(oneLine),
  ];
  return parts.filter((part) => part !== null).join("  ");
}
