/** Options and output that `recap` and `trace` share. */

import { maskJson } from "../../../api/mask.ts";
import { toWire } from "../../../api/shape.ts";
import type { TenantApi } from "../../../engine/interfaces.ts";
import { RECAP, RELATED } from "../../../model/answers/context.ts";
import type { JsonValue } from "../../../model/json.ts";
import { MAX_HITS } from "../../../model/limits.ts";
import { DEFAULT_RECAP_SESSIONS, recapSessions } from "../../../recap/recap.ts";
import { DEFAULT_RELATED, type Related, relatedSessions } from "../../../recap/related.ts";
import { showRecap, showTraced, traceNotes } from "../../../recap/show-work.ts";
import {
  DEFAULT_TRACED_SESSIONS,
  type Trace,
  type TraceInput,
  traceWork,
} from "../../../recap/trace.ts";
import { toWireTrace } from "../../../recap/wire/wire-trace.ts";
import { type Command, defineCommand, flag, option, usageError } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { counted, formatCount } from "../../print.ts";
import { formatHit } from "../../print-hit.ts";
import { nearMisses, printNoSessions } from "../../print-session.ts";
import { withStore } from "../../store.ts";
import type { Terminal } from "../../terminal.ts";
import { Progress } from "../../terminal.ts";
import { clean, wrapLine } from "../../text.ts";
import { filterOptions, toInput, UNTIL } from "../input-options.ts";

/** `sessions` is the default number of sessions. */
function workOptions(sessions: number) {
  return {
    since: option("TIME", "From then on: yesterday, 7d, 2026-05-04."),
    until: UNTIL,
    ...filterOptions("project", "repo", "agent", "workstation"),
    limit: option("N", `Sessions, the newest: at most ${MAX_HITS}, ${sessions} if left out.`),
  };
}

/** Refuses a number of sessions out of bounds. */
function limited<Input extends { readonly limit?: number }>(input: Input): Input {
  const { limit = 1 } = input;
  if (limit >= 1 && limit <= MAX_HITS) return input;
  throw usageError(`--limit must be 1 to ${MAX_HITS}`, "--limit");
}

/** Each part on separate lines, wrapped to the terminal, with an empty line between two. */
async function printParts(terminal: Terminal, parts: readonly string[]): Promise<void> {
  for (const [i, part] of parts.entries()) {
    if (i > 0) await terminal.print();
    for (const line of clean(part).replaceAll("\t", " ").split("\n")) {
      for (const wrapped of wrapLine(line, terminal.columns)) await terminal.print(wrapped);
    }
  }
}

export const recap: Command = defineCommand({
  name: "recap",
  summary: "List what was done: requests, outcomes, files changed, commands run.",
  details:
    "Covers a period, a project or a session, and needs no model. #12 is a message's number: show SESSION --offset 12 begins there. Read-only commands and sessions of sub-agents are left out. Both days of a period are included. Secrets are masked. Exits with 1 if nothing was done.",
  arguments: [{ name: "SESSION", optional: true, help: "Only this session, by any of its ids." }],
  options: {
    ...workOptions(DEFAULT_RECAP_SESSIONS),
    "sub-agents": flag("Also sessions of sub-agents, separately."),
  },
  examples: ["recap --since yesterday", "recap --project shop --limit 3"],
  run: (context, { SESSION: session }, options) => {
    const input = limited(toInput("recapSessions", { ...options, session }));
    return withStore(context, "read", async (tenant) => {
      const { terminal } = context;
      const told = await recapSessions(tenant, input);
      const { sessions, more, subAgents } = told;
      const code = sessions.length === 0 ? EXIT.nothing : EXIT.ok;
      if (context.json) {
        await terminal.printJson(maskJson(toWire(RECAP, told) as unknown as JsonValue));
        return code;
      }
      if (sessions.length === 0) {
        await printNoSessions(context, tenant, input, "No stored session matches.");
      }
      await printParts(
        terminal,
        sessions.map((each) => showRecap(each, Date.now())),
      );
      if (more) terminal.note("There are more: --limit, or a shorter period.");
      if (subAgents > 0) {
        terminal.note(`${counted(subAgents, "session")} of sub-agents left out (--sub-agents).`);
      }
      return code;
    });
  },
});

const { project, repo, agent, workstation } = workOptions(DEFAULT_RELATED);

export const related: Command = defineCommand({
  name: "related",
  summary: "Find sessions like one, and where the same question was asked before.",
  details:
    "Searches other sessions for the session's title and first requests, and their questions for its first question. With an embedder it compares by meaning; otherwise by words, and the same question is one that contains all of them. Secrets are masked. Exits with 1 if none match.",
  arguments: [{ name: "SESSION", optional: true, help: "By any of its ids." }],
  options: {
    question: option("TEXT", "Instead of a session: the question."),
    project,
    repo,
    agent,
    workstation,
    limit: option(
      "N",
      `Sessions, and questions: at most ${MAX_HITS} of each, ${DEFAULT_RELATED} if left out.`,
    ),
  },
  examples: ["related 5f0c2a91", "related --question 'why does the cron job run twice?'"],
  run: (context, { SESSION: session }, options) => {
    const { question } = options;
    if ((session === undefined) === (question === undefined)) {
      throw usageError("related takes a session, or --question", "--question");
    }
    const input = limited(toInput("relatedSessions", { ...options, session }));
    return withStore(context, "read", async (tenant) => {
      const { terminal } = context;
      const found = await relatedSessions(tenant, input);
      const { sessions, asked, notes } = found;
      const code = sessions.length + asked.length === 0 ? EXIT.nothing : EXIT.ok;
      if (context.json) {
        await terminal.printJson(maskJson(toWire(RELATED, found) as unknown as JsonValue));
        return code;
      }
      if (code === EXIT.nothing) await terminal.print("Nothing like it is stored.");
      await printHits(context, "Sessions like it", sessions);
      await printHits(context, "Asked before", asked);
      const misses = code === EXIT.nothing ? await nearMisses(tenant, input) : [];
      for (const note of [...notes, ...misses]) terminal.note(note);
      return code;
    });
  },
});

async function printHits(
  { terminal }: Context,
  heading: string,
  hits: Related["asked"],
): Promise<void> {
  if (hits.length === 0) return;
  await terminal.print(terminal.bold(heading));
  for (const hit of hits) {
    for (const line of formatHit(hit, terminal, { before: 0, after: 0 })) {
      await terminal.print(`  ${line}`);
    }
  }
}

export const trace: Command = defineCommand({
  name: "trace",
  summary: "List the sessions that touched a file, ran a command or met an error.",
  details:
    "Takes one of --file, --command and --error. For an error or a failure it also shows the fix: the next success of the same command, with the changes before it. It reads the tool calls of every session that has the text, so a session that only mentions a file does not count, and none is missed: it says how many more have it, and how many it has not read. An error counts where a tool failed with it, a command printed it, or the user reported it. Text is found as whole words, and within words if no session has it so. #12 is a message's number. Secrets are masked. Exits with 1 if none match.",
  options: {
    file: option("PATH", "A path, or the end of one."),
    command: option("TEXT", "A command, or part of one."),
    error: option("TEXT", "The text of an error, or part of it."),
    exclude: option("ID", "Leave this session out."),
    ...workOptions(DEFAULT_TRACED_SESSIONS),
  },
  examples: ["trace --file src/cron.ts", "trace --error 'database is locked' --since 30d"],
  run: (context, _args, options) => {
    const { file, command, error } = options;
    if ([file, command, error].filter((each) => each !== undefined).length !== 1) {
      throw usageError("trace takes one of --file, --command and --error", "--file");
    }
    const input = limited(toInput("traceWork", options));
    return withStore(context, "read", async (tenant) => {
      const { terminal } = context;
      const found = await trackedTrace(tenant, input);
      const { sessions } = found;
      const code = sessions.length === 0 ? EXIT.nothing : EXIT.ok;
      if (context.json) {
        await terminal.printJson(maskJson(toWireTrace(found) as unknown as JsonValue));
        return code;
      }
      await printParts(
        terminal,
        sessions.map((each) => showTraced(each, Date.now())),
      );
      const misses = sessions.length === 0 ? await nearMisses(tenant, input) : [];
      for (const note of [...traceNotes(found, WORDS), ...misses]) {
        if (sessions.length === 0) await terminal.print(note);
        else terminal.note(note);
      }
      return code;
    });
  },
});

const WORDS = {
  search: "search",
  limit: `--limit shows up to ${MAX_HITS}`,
  narrow: "--since, --project or --agent",
};

async function trackedTrace(tenant: TenantApi, input: TraceInput): Promise<Trace> {
  const progress = new Progress();
  try {
    return await traceWork(tenant, input, {
      onProgress: (read, total) =>
        progress.show(() => `${formatCount(read)} of ${formatCount(total)} sessions read`),
    });
  } finally {
    progress.end();
  }
}
