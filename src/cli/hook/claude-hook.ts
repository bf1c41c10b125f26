/**
 * Hooks of Claude Code: input on standard input, output as JSON.
 *
 * Only `hookSpecificOutput.additionalContext` reaches the model. The client waits for the hook to
 * end, so storing is limited to less than a second; a separate process does the rest.
 */

import { spawn } from "node:child_process";
import { ingest, survey } from "../../archive/ingest.ts";
import { ArchiveRules } from "../../archive/rules/archive-rules.ts";
import type { TenantApi } from "../../engine/interfaces.ts";
import { GitLookup } from "../../ingest/identity/git.ts";
import { projectId } from "../../ingest/identity/identity.ts";
import type { Environment } from "../../ingest/source.ts";
import { SOURCES } from "../../ingest/sources.ts";
import { BackscrollError } from "../../model/errors.ts";
import { isPlainObject } from "../../model/json.ts";
import { counted, formatAge } from "../print.ts";

/** The limit of counted sessions of a project. */
const MAX_COUNTED = 100;

export interface HookInput {
  readonly event: string;
  /** The reason of a session's start. */
  readonly source: string;
  readonly sessionId: string;
  readonly transcript: string;
  readonly cwd: string;
}

/** Throws `invalid_input` for malformed input. Missing fields are empty. */
export function readHookInput(text: string): HookInput {
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch (cause) {
    throw notHookInput(`is not JSON (${(cause as Error).message})`);
  }
  if (!isPlainObject(input)) throw notHookInput("is not a JSON object");
  const field = (name: string) => (typeof input[name] === "string" ? (input[name] as string) : "");
  return {
    event: field("hook_event_name"),
    source: field("source"),
    sessionId: field("session_id"),
    transcript: field("transcript_path"),
    // Hooks start in the session's folder.
    cwd: field("cwd") || process.cwd(),
  };
}

function notHookInput(why: string): BackscrollError {
  return new BackscrollError("invalid_input", `the hook's input on standard input ${why}`, {
    details: { field: "stdin" },
  });
}

/** The store operation of an event; undefined if it needs none. */
export function needsOf({ event, source }: HookInput): "count" | "handover" | "read" | undefined {
  if (event === "SessionEnd" || event === "PreCompact") return "read";
  if (event !== "SessionStart") return undefined;
  if (source === "compact") return "handover";
  // A resumed session has its context; others begin without any.
  return source === "startup" || source === "clear" ? "count" : undefined;
}

/** The hook's output for Claude Code. */
export function hookOutput(context: string): string {
  const hookSpecificOutput = { hookEventName: "SessionStart", additionalContext: context };
  return `${JSON.stringify({ hookSpecificOutput })}\n`;
}

/** Whether a rule keeps the conversations of the session's folder out of the store. */
export async function isIgnored({ cwd }: HookInput, environment: Environment): Promise<boolean> {
  const agents = SOURCES.map(({ name }) => name);
  const rules = new ArchiveRules(environment, new GitLookup(), agents);
  await rules.refresh();
  const [source, agent] = ["claude-code", "claude-code"];
  return (await rules.find({ source, agent, cwd })) !== undefined;
}

/** Stores the transcript's new lines. */
export async function readTranscript(
  tenant: TenantApi,
  transcript: string,
  environment: Environment,
): Promise<void> {
  if (transcript !== "") await ingest(tenant, { environment, paths: [transcript] });
}

/** Ingested in about a tenth of a second. */
const SHORT_BYTES = 1024 * 1024;

/** Whether ingesting the transcript takes longer than the client should wait. */
export async function isLong(
  tenant: TenantApi,
  transcript: string,
  environment: Environment,
): Promise<boolean> {
  const { bytes } = await survey(tenant, { environment, paths: [transcript] });
  return bytes > SHORT_BYTES;
}

/** One line with the amount of stored sessions, and how to search them; undefined without any. */
export async function memoryLine(
  tenant: TenantApi,
  { cwd }: HookInput,
  now: number,
): Promise<string | undefined> {
  const status = await tenant.tenantStatus();
  if (status === undefined || status.sessions === 0) return undefined;
  const { sessions, nextCursor } = await tenant.listSessions({
    projectId: projectId(cwd),
    limit: MAX_COUNTED,
  });
  const [newest] = sessions;
  const more = nextCursor === null || nextCursor === undefined ? "" : "+";
  const here =
    newest === undefined
      ? "none of them in this folder"
      : `${sessions.length}${more} of them in this folder, the last ${ageOf(now - newest.updatedAt)}`;
  return `Memory: Backscroll keeps ${counted(status.sessions, "earlier conversation")} (${here}). When earlier work matters, ask its MCP tools: search_past_conversations finds what was said, list_past_conversations lists conversations.`;
}

function ageOf(ms: number): string {
  const age = formatAge(ms);
  return age === "now" ? "just now" : `${age} ago`;
}

/** Continues reading after this process has ended. */
export function readLater(words: readonly string[]): void {
  const [script = ""] = process.argv.slice(1);
  const options = { detached: true, stdio: "ignore", windowsHide: true } as const;
  spawn(process.execPath, [script, ...words], options)
    .on("error", () => undefined)
    .unref();
}
