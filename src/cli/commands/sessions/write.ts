import { toWireSession } from "../../../api/session.ts";
import { toWire } from "../../../api/shape.ts";
import { retitleSessions } from "../../../archive/retitle.ts";
import type { Derived } from "../../../engine/forget.ts";
import { TOMBSTONE } from "../../../model/answers/store.ts";
import { defined } from "../../../model/defined.ts";
import type { Retention } from "../../../model/session.ts";
import {
  type Command,
  defineCommand,
  type ExitCode,
  flag,
  option,
  SESSION,
  usageError,
} from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { counted } from "../../print.ts";
import { type Access, withSession, withStore } from "../../store.ts";
import { askYesNo, canAsk } from "../../terminal.ts";
import { oneLine } from "../../text.ts";
import { toJsonObject } from "../../values.ts";
import { toInput } from "../input-options.ts";

export const newSession: Command = defineCommand({
  name: "new",
  aliases: ["new_session"],
  summary: "Create a session and print its id. Creates the store, too, if there is none.",
  options: {
    agent: option("NAME", "The agent whose conversation it is. Required."),
    by: option("NAME", "The creator. Required."),
    title: option("TEXT", "A title; empty if left out."),
    id: option("ID", "An id of your own; a new one if left out."),
    owner: option("NAME", "The owner; the creator if left out."),
    metadata: option("JSON", "A JSON object to keep with it."),
    ttl: option("SECONDS", "A sweep deletes it this long after its last write; never if left out."),
    retention: option(
      "HOW",
      "The retention of summarised content: full (if left out), audit-only or ephemeral.",
    ),
    key: option(
      "KEY",
      "The same request under the same key gives the same session, for seven days.",
    ),
  },
  examples: ['new --agent coder --by ana --title "Cron runs twice"'],
  run: (context, _args, options) => {
    const { agent, by } = options;
    if (agent === undefined) throw usageError("new needs --agent NAME", "--agent");
    if (by === undefined) throw usageError("new needs --by NAME", "--by");
    const { retention, ...fields } = toInput("createSession", options);
    const input = {
      ...fields,
      agent,
      createdBy: by,
      ...defined({
        retention: retention as Retention | undefined,
        metadata: toJsonObject(options.metadata, "--metadata"),
      }),
    };
    return withStore(context, "create", async (tenant) => {
      const handle = await tenant.createSession(input);
      const { terminal } = context;
      if (context.json) await terminal.printJson(toWireSession(await handle.meta()));
      else await terminal.print(handle.id);
    });
  },
});

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
    again: flag("Derive again all titles that no person has set."),
    "dry-run": flag("With --again: say what would change."),
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
    });
  },
});

function titleAgain(context: Context, dryRun: boolean): Promise<ExitCode> {
  return withStore(context, dryRun ? "read" : "write", async (tenant) => {
    const { terminal } = context;
    const titles: { session_id: string; before: string; title: string }[] = [];
    const { looked, changed } = await retitleSessions(tenant, {
      dryRun,
      onTitle: ({ session, title }) =>
        titles.push({ session_id: session.id, before: session.title, title }),
    });
    if (context.json) return terminal.printJson({ looked, changed, titles });
    for (const { session_id, title } of titles) {
      await terminal.print(`${session_id}  ${oneLine(title) || terminal.dim("(no title)")}`);
    }
    const verb = dryRun ? "Would change" : "Changed";
    await terminal.print(
      `${verb} ${counted(changed, "title")} of ${counted(looked, "session")} without one of their own.`,
    );
  });
}

export const fork: Command = defineCommand({
  name: "fork",
  summary: "Copy a session's path into a new session and print its id.",
  details: "Title, metadata, agent and participants come along. The original does not change.",
  arguments: [SESSION],
  options: {
    through: option("ENTRY", "The last entry to copy; all if left out."),
    by: option("NAME", "The fork's creator; the original's owner if left out."),
    title: option("TEXT", "The new session's title."),
    id: option("ID", "An id of your own; a new one if left out."),
  },
  examples: ["fork 5f0c2a91 --by ana"],
  run: (context, args, options) =>
    withSession(context, "write", args.SESSION, async (handle) => {
      const { through, by, title, id } = options;
      const createdBy = by ?? (await handle.meta()).owner;
      const forked = await handle.fork({ createdBy, ...defined({ through, title, id }) });
      const { terminal } = context;
      if (context.json) await terminal.printJson(toWireSession(await forked.meta()));
      else await terminal.print(forked.id);
    }),
});

export const deleteSession: Command = defineCommand({
  name: "delete",
  summary: "Delete a session and everything inside it, permanently.",
  details:
    "A tombstone stays: a hash of the content, without the content. Forks hold copies of its messages, and memories may derive from it: without --yes the command lists what would be deleted and what would stay.",
  arguments: [SESSION],
  options: {
    yes: flag("Confirms the deletion."),
    cascade: flag("Also its forks, and the memories that were taken from it."),
  },
  examples: ["delete 5f0c2a91 --yes"],
  run: (context, args, options) => runDeletion(context, args.SESSION, options, "Deleted"),
});

interface DeletionOptions {
  readonly yes?: boolean;
  readonly cascade?: boolean;
}

/** `verb` is printed with the result. */
export function runDeletion(
  context: Context,
  id: string,
  options: DeletionOptions,
  verb: string,
): Promise<ExitCode> {
  return withStore(context, accessToDelete(context, options.yes), async (tenant) => {
    const cascade = options.cascade ?? false;
    const session = await tenant.getSessionMeta(id);
    if (!options.yes) {
      const what = `session ${session.shortId} with ${counted(session.messageCount, "message")}`;
      const others = describeOthers(await tenant.listDerived(session.id), cascade);
      if (!(await confirmDeletion(context, `${what}${others}`))) return EXIT.nothing;
    }
    const tombstone = await tenant.deleteSession(session.id, { cascade });
    if (context.json) return context.terminal.printJson(toWire(TOMBSTONE, tombstone));
    return context.terminal.print(`${verb} ${counted(tombstone.entryCount, "entry")}.`);
  });
}

/** A question is asked with the store open for its answer. */
export function accessToDelete(context: Context, isConfirmed: boolean | undefined): Access {
  return isConfirmed || asks(context) ? "write" : "read";
}

function asks({ json }: Context): boolean {
  return canAsk() && !json;
}

/** Asks at a terminal; elsewhere throws the error that names `--yes`. */
export async function confirmDeletion(context: Context, what: string): Promise<boolean> {
  if (asks(context)) return askYesNo(`Delete ${what} for good?`);
  throw usageError(`this would delete ${what} for good; add --yes`, "--yes");
}

function describeOthers(derived: Derived, cascade: boolean): string {
  const parts = [
    ...(derived.forks.length === 0 ? [] : [counted(derived.forks.length, "fork")]),
    ...(derived.memories.length === 0 ? [] : [counted(derived.memories.length, "memory")]),
  ];
  if (parts.length === 0) return "";
  return cascade
    ? `, ${parts.join(" and ")}`
    : `, but not ${parts.join(" and ")} (--cascade does),`;
}
