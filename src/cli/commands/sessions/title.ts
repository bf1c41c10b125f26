import { toWireSession } from "../../../api/session.ts";
import { retitleSessions } from "../../../archive/retitle.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { counted } from "../../print.ts";
import { withStore } from "../../store.ts";
import { oneLine } from "../../text.ts";

export const title: Command = defineCommand({
  name: "title",
  summary: "Set a session's title, or derive the titles of all sessions again.",
  details:
    "A session without a meaningful title from its agent gets one from its first meaningful request. With --again these titles are derived again by the current version; a title set by a person stays.",
  arguments: [
    { name: "SESSION", optional: true, help: "The session's id; left out with --again." },
    { name: "TEXT", optional: true, help: "The title; empty to remove it." },
  ],
  options: {
    again: { type: "boolean", help: "Derive again all titles that no person has set." },
    "dry-run": { type: "boolean", help: "With --again: say what would change." },
  },
  examples: ['title 5f0c2a91 "Cron runs twice"', "title --again --dry-run"],
  run: (context, { SESSION, TEXT }, options) => {
    if (options.again) {
      if (SESSION !== undefined)
        throw usageError(
          "--again derives the titles of all sessions; leave out SESSION",
          "SESSION",
        );
      return titleAgain(context, options["dry-run"] ?? false);
    }
    if (options["dry-run"]) throw usageError("--dry-run needs --again", "--dry-run");
    if (SESSION === undefined || TEXT === undefined) {
      throw usageError("title needs SESSION and TEXT, or --again", "SESSION");
    }
    return withStore(context, "write", async (tenant) => {
      const handle = await tenant.getSession(SESSION);
      const session = await handle.setTitle(TEXT);
      if (context.json) await context.terminal.printJson(toWireSession(session));
      return EXIT.ok;
    });
  },
});

function titleAgain(context: Context, dryRun: boolean): Promise<number> {
  return withStore(context, dryRun ? "read" : "write", async (tenant) => {
    const { terminal } = context;
    const titles: { session_id: string; before: string; title: string }[] = [];
    const { looked, changed } = await retitleSessions(tenant, {
      dryRun,
      onTitle: ({ session, title }) =>
        titles.push({ session_id: session.id, before: session.title, title }),
    });
    if (context.json) {
      await terminal.printJson({ looked, changed, titles });
      return EXIT.ok;
    }
    for (const { session_id, title } of titles) {
      await terminal.print(`${session_id}  ${oneLine(title) || terminal.dim("(no title)")}`);
    }
    const verb = dryRun ? "Would change" : "Changed";
    await terminal.print(
      `${verb} ${counted(changed, "title")} of ${counted(looked, "session")} without one of their own.`,
    );
    return EXIT.ok;
  });
}
