/** `resume --in`: continues a session in another agent. */

import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TenantApi } from "../../../engine/interfaces.ts";
import { SOURCES } from "../../../ingest/sources.ts";
import { defined } from "../../../model/defined.ts";
import type { Session } from "../../../model/session.ts";
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
import { shellWord } from "../../../transfer/resume-command.ts";
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
import { toCount } from "../../values.ts";

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
    "Prints, and runs nothing. Without --in: exit code 1 if its agent has no such command. With --in: writes a briefing under a token budget (digest and context, secrets masked) that a new session there begins with; with --native, copies the session itself into the other agent's own files, verbatim and unmasked, and reads it back. Losses are counted on standard error.",
  arguments: [SESSION],
  options: {
    in: option("AGENT", `Continue there: ${RESUME_TARGETS.map(({ name }) => name).join(", ")}.`),
    ...ELSEWHERE,
  },
  examples: [
    "resume 5f0c2a91",
    "resume 5f0c2a91 --in codex",
    "resume 5f0c2a91 --in claude-code --native",
  ],
  run: (context, args, options) => {
    const { in: agent, ...rest } = options;
    if (agent !== undefined) return resumeElsewhere(context, args.SESSION, { in: agent, ...rest });
    const misplaced = Object.keys(ELSEWHERE).find((name) => Object.hasOwn(rest, name));
    if (misplaced !== undefined) {
      throw usageError(`--${misplaced} needs --in AGENT`, `--${misplaced}`);
    }
    return resumeHere(context, args.SESSION);
  },
});

function resumeHere(context: Context, sessionId: string): Promise<ExitCode> {
  return withStore(context, "read", async (tenant) => {
    const session = await tenant.getSessionMeta(sessionId);
    const { terminal } = context;
    const command = resumeCommand(session);
    const { projectPath: cwd = null, source = null } = session.origin;
    if (context.json) {
      await terminal.printJson({ session_id: session.id, source, cwd, command });
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
function resumeCommand(session: Session): string | null {
  const { source, projectPath, key } = session.origin;
  const reader = SOURCES.find(({ name }) => name === source);
  // The key is workstation:project:session.
  const id = sourceFieldsOf(session)?.id ?? key?.split(":").slice(2).join(":");
  if (id === undefined || id === "") return null;
  return reader?.resumeCommand?.({ id, cwd: projectPath ?? null }) ?? null;
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
  const command = `cd ${shellWord(cwd)} && ${target.begin(file)}`;
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
