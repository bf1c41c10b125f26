import type { TenantApi } from "../../../engine/interfaces.ts";
import type { OwnerDeletion } from "../../../engine/owned/forget-owner.ts";
import { conversationIds, keepNothing, MCP_CLIENTS } from "../../../mcp/own-session.ts";
import { BackscrollError } from "../../../model/errors.ts";
import type { Session } from "../../../model/session.ts";
import { unlessDeleted } from "../../../recap/found-session.ts";
import { selectSessions } from "../../../recap/select-sessions.ts";
import { type Command, defineCommand, flag, option, SESSION, usageError } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { counted, formatCount, formatTable, formatTime } from "../../print.ts";
import { commandLine } from "../../program.ts";
import { refuseServer, withOwnTenant, withStore } from "../../store.ts";
import { Progress } from "../../terminal.ts";
import { filterOptions, toInput, UNTIL } from "../input-options.ts";
import { accessToDelete, confirmDeletion, runDeletion } from "../sessions/write.ts";
import { noteLogs } from "../store/doctor.ts";

export const forget: Command = defineCommand({
  name: "forget",
  summary: "Delete sessions, and do not ingest them again.",
  details:
    "Deletes as delete does: a session, or every one that the options select together, after showing them; at a terminal it asks. The tombstones, hashes without content, keep them from being ingested again; kept transcripts go with them. To restore one: ingest FILE --force. --matching reads everything that is stored of every session, machine-made ones included, so nothing is missed. With --owner: everything of a person in a store of this machine, that is their sessions with their forks, their messages in other sessions, what was noted under their name, and tokens; the index is purged after it. What is out of reach: backups, and the files that agents themselves keep. Exits with 1 if nothing matches, or the answer is no.",
  arguments: [{ ...SESSION, optional: true }],
  options: {
    ...filterOptions("project", "repo", "agent"),
    since: option("TIME", "Last interaction at or after."),
    until: UNTIL,
    matching: option(
      "TEXT",
      "Only those that have this text anywhere, in any case, also within words.",
    ),
    owner: option("NAME", "Everything of this owner; no other filter."),
    "dry-run": flag("Only show what would be deleted."),
    yes: flag("Confirms the deletion."),
    cascade: flag("Also their forks, and the memories that were taken from them."),
  },
  examples: [
    "forget 5f0c2a91 --yes",
    "forget --agent coder --since 7d --dry-run",
    "forget --owner ana --yes",
  ],
  run: (context, args, options) => {
    const { owner, cascade, yes, matching, agent, project, repo, since, until } = options;
    const isDry = options["dry-run"] ?? false;
    const filters = Object.entries({ project, repo, agent, since, until, matching });
    const names = filters.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`]));
    const [first, second] = [
      ...(args.SESSION === undefined ? [] : ["SESSION"]),
      ...(owner === undefined ? [] : ["--owner"]),
      ...names.slice(0, 1),
    ];
    if (first === undefined) {
      throw usageError("forget needs a SESSION, or what to forget, such as --project", "SESSION");
    }
    if (second !== undefined) {
      throw usageError(`${first} and ${second} cannot go together; leave one out`, second);
    }
    if (matching?.trim() === "") throw usageError("--matching must not be empty", "--matching");
    if (owner !== undefined) return forgetOwner(context, owner, { isDry, yes: yes ?? false });
    const { SESSION: id } = args;
    if (id !== undefined && !isDry) return runDeletion(context, id, options, "Forgot");
    const filter = toInput("listSessions", { project, repo, agent, since, until });
    return withStore(context, isDry ? "read" : accessToDelete(context, yes), async (tenant) => {
      const sessions =
        id === undefined
          ? await showingProgress("Read", (onProgress) =>
              selectSessions(tenant, filter, { text: matching, onProgress }),
            )
          : [await tenant.getSessionMeta(id)];
      return forgetAll(context, tenant, sessions, { isDry, yes, cascade });
    });
  },
});

interface ForgetOptions {
  readonly isDry: boolean;
  readonly yes: boolean | undefined;
  readonly cascade: boolean | undefined;
}

async function forgetAll(
  context: Context,
  tenant: TenantApi,
  sessions: readonly Session[],
  { isDry, yes, cascade = false }: ForgetOptions,
): Promise<number> {
  const { terminal, json } = context;
  const messages = sessions.reduce((sum, { messageCount }) => sum + messageCount, 0);
  const report = (forgotten: number, entries: number) =>
    terminal.printJson({
      dry_run: isDry,
      sessions: sessions.map(({ id, shortId, agent, title, messageCount }) => {
        return { id, short_id: shortId, agent, title, message_count: messageCount };
      }),
      message_count: messages,
      forgotten: { sessions: forgotten, entries },
    });
  if (sessions.length === 0) {
    if (json) await report(0, 0);
    else await terminal.print("No session matches.");
    return EXIT.nothing;
  }
  const what = `${counted(sessions.length, "session")} with ${counted(messages, "message")}`;
  if (!json) for (const line of listed(sessions, terminal.columns)) await terminal.print(line);
  if (isDry) {
    if (json) await report(0, 0);
    else await terminal.print(`Would forget ${what}. Nothing was deleted.`);
    return EXIT.ok;
  }
  if (!yes && !(await confirmDeletion(context, what))) return EXIT.nothing;
  let [forgotten, entries] = [0, 0];
  await showingProgress("Forgot", async (onProgress) => {
    for (const [i, { id }] of sessions.entries()) {
      onProgress(i, sessions.length);
      const tombstone = await unlessDeleted(() => tenant.deleteSession(id, { cascade }));
      if (tombstone === undefined) continue;
      forgotten++;
      entries += tombstone.entryCount;
    }
  });
  if (json) {
    await report(forgotten, entries);
    return EXIT.ok;
  }
  const done = `Forgot ${counted(forgotten, "session")} with ${counted(entries, "entry")}.`;
  await terminal.print(
    `${done} Their words leave the files by: ${commandLine(context, "doctor --purge")}`,
  );
  return EXIT.ok;
}

/** Lines of a listing for people; `--json` has all. */
const MAX_LISTED = 20;

function listed(sessions: readonly Session[], columns: number): string[] {
  const rows = sessions
    .slice(0, MAX_LISTED)
    .map(({ shortId, lastInteractionAt, agent, messageCount, title }) => [
      shortId,
      formatTime(lastInteractionAt),
      agent,
      formatCount(messageCount),
      title,
    ]);
  const header = ["ID", "LAST INPUT", "AGENT", "MESSAGES", "TITLE"];
  const agents = new Map<string, number>();
  for (const { agent } of sessions) agents.set(agent, (agents.get(agent) ?? 0) + 1);
  const counts = [...agents].map(([agent, count]) => `${counted(count, "session")} of ${agent}`);
  const more = sessions.length - MAX_LISTED;
  return [
    ...formatTable(header, rows, columns),
    ...(more > 0 ? [`and ${counted(more, "session")} more (--json lists all)`] : []),
    counts.join(", "),
  ];
}

async function showingProgress<Result>(
  verb: string,
  work: (onProgress: (done: number, total: number) => void) => Promise<Result>,
): Promise<Result> {
  const progress = new Progress();
  try {
    return await work((done, total) =>
      progress.show(() => `${verb} ${formatCount(done)} of ${counted(total, "session")}`),
    );
  } finally {
    progress.end();
  }
}

/** Everything of one owner: counts it, asks, and deletes it. */
async function forgetOwner(
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

/** An agent's own id is longer than a short one, which nothing could be stored under later. */
const SHORTEST_ID = 16;

export const incognito: Command = defineCommand({
  name: "incognito",
  summary: "Keep nothing of a running session: delete what is stored, and store no more.",
  details:
    "Without SESSION, the session of the agent that runs this command, where its environment names it (Claude Code, Qwen Code). A mark, a hash of the agent's id, keeps every process of this store from storing later lines; sub-agents, forks, the kept bytes of the file and memories taken from the session go with it. What was sent to a model, backed up or exported before stays there. ingest FILE --force takes the mark back.",
  arguments: [
    {
      name: "SESSION",
      optional: true,
      help: "The session's id: short, whole, or its agent's own, which need not be stored yet.",
    },
  ],
  examples: ["incognito 0f6a2c1e-8d4b-4c5a-9e8f-7b6a5c4d3e2f"],
  run: (context, args) => {
    const named =
      args.SESSION === undefined ? conversationIds({ variables: process.env }) : [args.SESSION];
    if (named.length === 0) {
      const variables = MCP_CLIENTS.flatMap((client) => client.variables).join(", ");
      throw usageError(
        `no variable of this environment names the running session (${variables}); name it: incognito SESSION`,
        "SESSION",
      );
    }
    return withStore(context, "create", async (tenant) => {
      if (args.SESSION !== undefined && args.SESSION.length < SHORTEST_ID) {
        // A misspelt short id would hide nothing.
        await tenant.getSessionMeta(args.SESSION).catch((error: unknown) => {
          if (!BackscrollError.is(error, "session_ambiguous")) throw error;
        });
      }
      const deleted = await keepNothing(tenant, named);
      const { terminal, json } = context;
      if (json) await terminal.printJson({ sessions: named, deleted });
      else {
        await terminal.print(
          `Nothing of session ${named.join(", ")} is kept: ${counted(deleted, "session")} deleted, and no more will be stored.`,
        );
      }
    });
  },
});
