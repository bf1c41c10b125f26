/** `resume --in`: continues a session in another agent. */

import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TenantApi } from "../../engine/interfaces.ts";
import {
  DEFAULT_BRIEFING_TOKENS,
  MAX_BRIEFING_TOKENS,
  MIN_BRIEFING_TOKENS,
  makeBriefing,
} from "../../transfer/resume/briefing.ts";
import { findTarget, type ResumeTarget } from "../../transfer/resume/targets.ts";
import {
  checkFolder,
  nothingSaid,
  readPath,
  writeNative,
  writeNew,
} from "../../transfer/resume/write-native.ts";
import { shellWord } from "../../transfer/shell-word.ts";
import { usageError } from "../command.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { counted, formatCount } from "../print.ts";
import { withStore } from "../store.ts";
import { given, toCount } from "../values.ts";

export interface ElsewhereOptions {
  readonly in: string;
  readonly native?: boolean | undefined;
  readonly budget?: string | undefined;
  readonly print?: boolean | undefined;
  readonly "dry-run"?: boolean | undefined;
  readonly full?: boolean | undefined;
  readonly raw?: boolean | undefined;
  readonly cwd?: string | undefined;
  readonly leaf?: string | undefined;
}

export function resumeElsewhere(
  context: Context,
  sessionId: string,
  options: ElsewhereOptions,
): Promise<number> {
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
): Promise<number> {
  const handle = await tenant.getSession(sessionId);
  const dryRun = options["dry-run"] ?? false;
  const result = await writeNative(handle, target, {
    environment: environmentOf(),
    now: Date.now(),
    dryRun,
    temporaryFolder: tmpdir(),
    cwd: folderOf(options.cwd, (await handle.meta()).origin.projectPath),
    ...given({ leaf: options.leaf, full: options.full }),
  });
  const { terminal } = context;
  const { id, file, messages, losses, registered, command } = result;
  if (context.json) {
    await terminal.printJson({
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
    return EXIT.ok;
  }
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
): Promise<number> {
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
  if (context.json) {
    await terminal.printJson({
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
    return EXIT.ok;
  }
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
