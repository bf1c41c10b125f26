/** `resume`: continues a session in its own agent, whose files are put back if need be, or in another. */

import { existsSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TenantApi } from "../../../engine/interfaces.ts";
import { SOURCES } from "../../../ingest/sources.ts";
import { defined } from "../../../model/defined.ts";
import { shellWord } from "../../../model/display.ts";
import { provenanceOf, type Session } from "../../../model/session.ts";
import { selectSessions } from "../../../recap/select-sessions.ts";
import { sourceFieldsOf } from "../../../transcript/source-fields.ts";
import {
  DEFAULT_BRIEFING_TOKENS,
  MAX_BRIEFING_TOKENS,
  MIN_BRIEFING_TOKENS,
  makeBriefing,
} from "../../../transfer/resume/briefing.ts";
import { findTarget, RESUME_TARGETS, type ResumeTarget } from "../../../transfer/resume/targets.ts";
import {
  checkFolder,
  nothingSaid,
  readPath,
  writeNative,
  writeNew,
} from "../../../transfer/resume/write-native.ts";
import {
  type Command,
  defineCommand,
  type ExitCode,
  flag,
  type OptionValues,
  option,
  SESSION,
  usageError,
} from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { counted, formatCount } from "../../print.ts";
import { withStore } from "../../store.ts";
import { askYesNo, canAsk } from "../../terminal.ts";
import { toCount } from "../../values.ts";
import { filterOptions, toInput } from "../input-options.ts";
import { goneTranscript, type Restoring, restoreAll, tellRestored } from "./restore.ts";

const ELSEWHERE = {
  native: flag("Copy the session, instead of briefing a new one."),
  budget: option("N", "Tokens that a briefing may take, 256 to 30000; 8000 if left out."),
  print: flag("Print the briefing, and write nothing."),
  "dry-run": flag("Say what would be written, and write nothing."),
  full: flag("With --native: all messages, including summarised ones."),
  raw: flag("Keep secrets in a briefing as they were written."),
  cwd: option("FOLDER", "The folder to continue in; the session's own if left out."),
  leaf: option("ENTRY", "The path to this entry, not the active one."),
};

export const resume: Command = defineCommand({
  name: "resume",
  summary: "Print the command that continues a session, in its own agent or another.",
  details:
    "Prints the command, and runs nothing. Without --in: exit code 1 if its agent has no such command, or its transcript is gone: at a terminal it asks whether to put it back, and --restore does so, byte for byte, with sub-agents and results of tools; a file that is there is replaced only if it is the beginning of what was kept. With --dry-run it stays gone, and so no command is printed. --restore with --all, --project, --agent or --since does it for many. With --in: writes a briefing under a token budget (digest and context, secrets masked) that a new session there begins with; with --native, copies the session itself into the other agent's own files, verbatim and unmasked, and reads it back. Losses are counted on standard error.",
  arguments: [{ ...SESSION, optional: true }],
  options: {
    restore: flag("Put the transcript back where its agent looks for it."),
    all: flag("With --restore: every session."),
    ...filterOptions("project", "agent"),
    since: option("TIME", "With --restore: last interaction at or after."),
    in: option("AGENT", `Continue there: ${RESUME_TARGETS.map(({ name }) => name).join(", ")}.`),
    ...ELSEWHERE,
  },
  examples: [
    "resume 5f0c2a91",
    "resume 5f0c2a91 --restore",
    "resume --restore --since 90d --dry-run",
    "resume 5f0c2a91 --in codex",
    "resume 5f0c2a91 --in claude-code --native",
  ],
  run: (context, args, options) => {
    const { in: to, restore, all, project, agent, since, ...rest } = options;
    const { SESSION: id } = args;
    const many = Object.entries({ all, project, agent, since }).find(
      ([, set]) => set !== undefined,
    );
    if (many !== undefined && !restore) {
      throw usageError(`--${many[0]} needs --restore`, `--${many[0]}`);
    }
    if ((id === undefined) === (many === undefined)) {
      const both = "leave out SESSION, or --all, --project, --agent and --since";
      const none = restore ? "--restore needs a SESSION, or --all" : "resume needs a SESSION";
      throw usageError(id === undefined ? none : both, "SESSION");
    }
    if (to !== undefined && restore) {
      throw usageError("--restore and --in cannot go together", "--restore");
    }
    if (to !== undefined && id !== undefined) {
      return resumeElsewhere(context, id, { in: to, ...rest });
    }
    const misplaced = Object.keys(ELSEWHERE).find(
      (name) => Object.hasOwn(rest, name) && !(restore && AT_HOME.includes(name)),
    );
    if (misplaced !== undefined) {
      throw usageError(`--${misplaced} needs --in AGENT`, `--${misplaced}`);
    }
    const restoring = { cwd: rest.cwd, dryRun: rest["dry-run"] };
    if (id !== undefined) return resumeHere(context, id, restore ? restoring : undefined);
    const filter = toInput("listSessions", { project, agent, since });
    return withStore(context, "read", async (tenant) => {
      const listed = await selectSessions(tenant, filter);
      // What came from elsewhere is put among the agent's own files only by name.
      const sessions = listed.filter((session) => provenanceOf(session) === "own");
      const folders = new Set(sessions.map(({ origin }) => origin.projectPath));
      if (restoring.cwd !== undefined && folders.size > 1) {
        const way = `they are of ${folders.size} folders; name one project with --project`;
        throw usageError(`--cwd is the folder of all these sessions, and ${way}`, "--cwd");
      }
      const restored = await restoreAll(tenant, sessions, restoring);
      if (context.json) await context.terminal.printJson(restored);
      else tellRestored(context, restored, restoring.dryRun);
      const isAnyFailed = restored.files.some(({ outcome }) => outcome === "failed");
      return restored.files.length === 0 || isAnyFailed ? EXIT.nothing : EXIT.ok;
    });
  },
});

/** Options that --restore has, too. */
const AT_HOME: readonly string[] = ["cwd", "dry-run"];

function resumeHere(
  context: Context,
  sessionId: string,
  restoring: Restoring | undefined,
): Promise<ExitCode> {
  return withStore(context, "read", async (tenant) => {
    const session = await tenant.getSessionMeta(sessionId);
    const { terminal } = context;
    const gone = await goneTranscript(tenant, session, restoring ?? {});
    const asks = restoring === undefined && gone !== undefined && !context.json && canAsk();
    const isWanted =
      restoring !== undefined || (asks && (await askYesNo(`${gone} is gone. Put it back?`)));
    const restored = isWanted ? await restoreAll(tenant, [session], restoring ?? {}) : undefined;
    if (restored !== undefined && !context.json) {
      tellRestored(context, restored, restoring?.dryRun);
    }
    const isMissing = restored?.files.some(
      ({ path, outcome }) => path === gone && outcome !== "written" && outcome !== "there",
    );
    const isGone = gone !== undefined && (!isWanted || isMissing === true);
    const folder = restoring?.cwd ?? session.origin.projectPath;
    const command = isGone ? null : resumeCommand(session, restoring?.cwd);
    if (folder !== undefined && command !== null && !existsSync(folder)) {
      terminal.note(`the folder ${folder} is gone; --restore --cwd FOLDER names where it is now`);
    }
    const { projectPath: cwd = null, source = null } = session.origin;
    if (isGone) {
      if (!isWanted) terminal.note(`its transcript ${gone} is gone; --restore puts it back`);
      if (!context.json) return EXIT.nothing;
    }
    if (context.json) {
      const { files = null } = restored ?? {};
      const answer = { session_id: session.id, source, cwd, command };
      await terminal.printJson({ ...answer, gone: isGone ? gone : null, restored: files });
    } else if (command !== null) await terminal.print(command);
    if (command !== null) return EXIT.ok;
    if (!context.json) {
      const why = source === null ? "was written here" : `${source} has no command for that`;
      terminal.note(`session ${session.id}: ${why}; --in AGENT continues it elsewhere`);
    }
    return EXIT.nothing;
  });
}

/** Null if the session was not ingested, or its agent has no such command. */
export function resumeCommand(session: Session, cwd?: string): string | null {
  const { source, projectPath, key } = session.origin;
  const reader = SOURCES.find(({ name }) => name === source);
  // The key is workstation:project:session.
  const id = sourceFieldsOf(session)?.id ?? key?.split(":").slice(2).join(":");
  if (id === undefined || id === "") return null;
  const { platform } = process;
  return reader?.resumeCommand?.({ id, cwd: cwd ?? projectPath ?? null, platform }) ?? null;
}

type ElsewhereOptions = OptionValues<typeof ELSEWHERE> & { readonly in: string };

function resumeElsewhere(
  context: Context,
  sessionId: string,
  options: ElsewhereOptions,
): Promise<ExitCode> {
  const target = findTarget(options.in);
  const misplaced = options.native ? (["budget", "print", "raw"] as const) : (["full"] as const);
  for (const name of misplaced) {
    if (options[name] === undefined) continue;
    const way = options.native ? "is for a briefing, not for --native" : "is for --native";
    throw usageError(`--${name} ${way}`, `--${name}`);
  }
  return withStore(context, "read", (tenant) =>
    options.native
      ? resumeNative(context, tenant, sessionId, target, options)
      : resumeBriefed(context, tenant, sessionId, target, options),
  );
}

async function resumeNative(
  context: Context,
  tenant: TenantApi,
  sessionId: string,
  target: ResumeTarget,
  options: ElsewhereOptions,
): Promise<ExitCode> {
  const handle = await tenant.getSession(sessionId);
  const dryRun = options["dry-run"] ?? false;
  const result = await writeNative(handle, target, {
    environment: environmentOf(),
    now: Date.now(),
    dryRun,
    temporaryFolder: tmpdir(),
    cwd: folderOf(options.cwd, (await handle.meta()).origin.projectPath),
    ...defined({ leaf: options.leaf, full: options.full }),
  });
  const { terminal } = context;
  const { id, file, messages, losses, registered, command } = result;
  if (context.json)
    return terminal.printJson({
      session_id: handle.id,
      agent: target.name,
      native: true,
      dry_run: dryRun,
      id,
      file,
      messages,
      losses,
      registered,
      command,
    });
  const what = `${counted(messages, "message")} of ${sessionId}`;
  const where = file === null ? `into ${target.name}` : `to ${file}`;
  terminal.note(`${dryRun ? "would copy" : "copied"} ${what} ${where}`);
  if (registered !== null) terminal.note(`registered in ${registered}`);
  if (losses.length > 0) {
    const parts = losses.map((loss) => `${formatCount(loss.count)} ${loss.what}`);
    terminal.note(`changed: ${parts.join(", ")}`);
  }
  await terminal.print(command);
  return EXIT.ok;
}

async function resumeBriefed(
  context: Context,
  tenant: TenantApi,
  sessionId: string,
  target: ResumeTarget,
  options: ElsewhereOptions,
): Promise<ExitCode> {
  const budget = checkBudget(toCount(options.budget, "--budget") ?? DEFAULT_BRIEFING_TOKENS);
  const handle = await tenant.getSession(sessionId);
  const session = await handle.meta();
  const path = await readPath(handle, options.leaf);
  const { leaf, raw = false } = options;
  const briefing = await makeBriefing({ handle, path, leaf, budget, raw });
  if (briefing.messages === 0) throw nothingSaid(session.id);
  const { terminal } = context;
  if (options.print && !context.json) {
    await terminal.print(briefing.text);
    return EXIT.ok;
  }
  const cwd = folderOf(options.cwd, session.origin.projectPath);
  await checkFolder(cwd);
  const dryRun = options["dry-run"] ?? false;
  const time = new Date().toISOString().replace(/[:.]/g, "-");
  const name = `${session.shortId}-${target.name}-${time}.md`;
  const file = join(homedir(), ".backscroll", "briefings", name);
  const isWritten = !dryRun && !options.print;
  if (isWritten) await writeNew(file, briefing.text);
  const command = `cd ${shellWord(cwd, process.platform)} && ${target.begin(file)}`;
  const { tokens, shown, messages } = briefing;
  if (context.json)
    return terminal.printJson({
      session_id: session.id,
      agent: target.name,
      native: false,
      dry_run: !isWritten,
      file,
      budget,
      tokens,
      shown,
      messages,
      command,
      ...(options.print ? { briefing: briefing.text } : {}),
    });
  terminal.note(
    `${dryRun ? "would write" : "wrote"} a briefing of ${formatCount(tokens)} tokens, ${shown} of ${counted(messages, "message")} quoted: ${file}`,
  );
  await terminal.print(command);
  return EXIT.ok;
}

function checkBudget(budget: number): number {
  if (budget >= MIN_BRIEFING_TOKENS && budget <= MAX_BRIEFING_TOKENS) return budget;
  const range = `${MIN_BRIEFING_TOKENS} to ${formatCount(MAX_BRIEFING_TOKENS)}`;
  throw usageError(`--budget must be ${range} tokens, not ${budget}`, "--budget");
}

function folderOf(asked: string | undefined, project: string | undefined): string {
  return resolve(asked ?? project ?? process.cwd());
}

function environmentOf() {
  return { home: homedir(), variables: process.env, platform: process.platform };
}
