/**
 * A recap of sessions without a model: requests, outcome, changed files, run commands; read-only
 * commands are left out. It uses public reads only, so it works locally and over the network.
 */

import { checkHits, checkPeriod, type Period } from "../engine/check.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import type { ListSessionsInput } from "../engine/sessions/list-sessions.ts";
import type {
  RECAP,
  RECAP_COMMAND,
  RECAP_FILE,
  RECAP_LINE,
  SESSION_RECAP,
} from "../model/answers/context.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { isSubAgent, type Session } from "../model/session.ts";
import type { FiltersOf } from "../model/session-filters.ts";
import type { FieldsOf } from "../model/shape.ts";
import { type Act, bareCommand, type Call, readActs } from "./read-acts.ts";

export interface RecapInput extends Pick<ListSessionsInput, FiltersOf<"recap">> {
  /** Only this session: its id, its short id, or its agent's own. */
  readonly session?: string;
  /** The time range: `since` inclusive, `until` exclusive. */
  readonly since?: number | Date;
  readonly until?: number | Date;
  /** The limit of sessions, newest first: at most 20. Default 5. */
  readonly limit?: number;
  /** Includes sub-agents' sessions, separately. */
  readonly subAgents?: boolean;
}

/** A message's text, with its index. */
export interface RecapLine extends FieldsOf<typeof RECAP_LINE> {}

export interface RecapCommand extends FieldsOf<typeof RECAP_COMMAND> {}

export interface RecapFile extends FieldsOf<typeof RECAP_FILE> {}

export interface SessionRecap extends FieldsOf<typeof SESSION_RECAP> {}

export interface Recap extends FieldsOf<typeof RECAP> {}

export const DEFAULT_RECAP_SESSIONS = 5;
const LAST_REQUESTS = 2;
const LIST_PAGE = 50;

export async function recapSessions(tenant: TenantApi, input: RecapInput = {}): Promise<Recap> {
  checkFields(input, "options", INPUTS.recapSessions);
  const { session, since, until, subAgents, limit: given, ...filter } = input;
  const limit = checkHits(given, "limit", DEFAULT_RECAP_SESSIONS);
  const period = checkPeriod({ since, until });
  if (session !== undefined) {
    const meta = await tenant.getSessionMeta(session);
    return { sessions: [await recapSession(tenant, meta, period)], more: false, subAgents: 0 };
  }
  const sessions: SessionRecap[] = [];
  let leftOut = 0;
  let cursor: string | undefined;
  do {
    const page = await tenant.listSessions({
      ...filter,
      ...(since === undefined ? {} : { since }),
      ...(cursor === undefined ? {} : { cursor }),
      limit: LIST_PAGE,
    });
    for (const meta of page.sessions) {
      if (meta.startedAt >= (period.until ?? Number.POSITIVE_INFINITY)) continue;
      if (subAgents !== true && isSubAgent(meta)) {
        leftOut++;
        continue;
      }
      if (sessions.length >= limit) return { sessions, more: true, subAgents: leftOut };
      const recap = await recapSession(tenant, meta, period);
      if (recap.messages > 0) sessions.push(recap);
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return { sessions, more: false, subAgents: leftOut };
}

async function recapSession(
  tenant: TenantApi,
  session: Session,
  period: Period,
): Promise<SessionRecap> {
  const { acts, messages, unread } = await readActs(tenant, session.id, period);
  const marks = await tenant.session(session.id).marks();
  return { session, messages, unread, ...recapActs(acts), marks };
}

function recapActs(
  acts: readonly Act[],
): Omit<SessionRecap, "session" | "messages" | "unread" | "marks"> {
  const calls = acts.filter((act) => act.type === "call");
  const requests = acts.filter((act) => act.type === "said" && act.role === "user").map(toLine);
  const answers = acts.filter((act) => act.type === "said" && act.role === "assistant");
  const outcome = answers.at(-1);
  const last = requests.slice(1).slice(-LAST_REQUESTS);
  return {
    requests: [...requests.slice(0, 1), ...last],
    requestCount: requests.length,
    outcome: outcome === undefined ? null : toLine(outcome),
    filesChanged: touched(calls.filter(hasWorked), ({ effects }) => effects.changed),
    filesRead: touched(calls.filter(hasWorked), ({ effects }) => effects.read).length,
    ...commandsOf(calls),
  };
}

function toLine(act: Act): RecapLine {
  return { index: act.index, text: act.type === "said" ? act.text : act.tool };
}

/** A call without a result may have had its effect. */
function hasWorked({ result }: Call): boolean {
  return result?.failed !== true;
}

function touched(calls: readonly Call[], paths: (call: Call) => readonly string[]): RecapFile[] {
  const files = new Map<string, RecapFile>();
  for (const call of calls) {
    for (const path of paths(call)) {
      const times = (files.get(path)?.times ?? 0) + 1;
      files.delete(path);
      files.set(path, { path, index: call.index, times });
    }
  }
  return [...files.values()];
}

function commandsOf(calls: readonly Call[]): Pick<SessionRecap, "commands" | "lookups"> {
  const commands = new Map<string, RecapCommand>();
  let lookups = 0;
  for (const { effects, index, result } of calls) {
    for (const command of effects.commands) {
      if (isLookup(command)) lookups++;
      else {
        const text = bareCommand(command);
        const times = (commands.get(text)?.times ?? 0) + 1;
        commands.delete(text);
        const ended = result === undefined ? {} : { failed: result.failed };
        commands.set(text, { text, index, times, ...ended });
      }
    }
  }
  return { commands: [...commands.values()], lookups };
}

const LOOKING = new Set(
  `ls ll cat bat head tail less more grep rg egrep fgrep ag find fd pwd echo printf wc which type
  file stat tree du df ps env date whoami hostname diff sort uniq cut awk jq xxd sleep true cd
  export set test [`.split(/\s+/),
);
const GIT_LOOKING = new Set(
  "status log diff show branch blame grep ls-files rev-parse remote describe".split(" "),
);

/** Whether each part of a chain or a pipeline is read-only. Unknown commands are not. */
export function isLookup(command: string): boolean {
  // Quoted text is an argument, unless it has a command substitution.
  if (command.includes("$(") || command.includes("`")) return false;
  const bare = command.replace(/'[^']*'|"[^"]*"/g, "TEXT");
  // A here-document or a redirection writes.
  if (/<<|(^|[^0-9&])>(?!\s*\/dev\/null|&)/.test(bare)) return false;
  const parts = bare.split(/&&|\|\||[;|\n]/).map((part) => part.trim());
  return parts.every((part) => part === "" || part.startsWith("#") || looks(part));
}

function looks(part: string): boolean {
  const words = part.split(/\s+/).filter((word) => !/^\w+=/.test(word));
  const [program = "", ...args] = words;
  const name = program.slice(program.lastIndexOf("/") + 1);
  if (name === "git") {
    const verb = args.filter((word, i) => !word.startsWith("-") && args[i - 1] !== "-C")[0] ?? "";
    return GIT_LOOKING.has(verb);
  }
  if (name === "gh") return looksAtGitHub(args, part);
  if (name === "sed") return args.includes("-n") && !args.includes("-i");
  if (name === "find" && /-(delete|exec)/.test(part)) return false;
  return LOOKING.has(name);
}

function looksAtGitHub([group = "", verb = ""]: readonly string[], part: string): boolean {
  if (group === "api") return !/\s(-f|-F|-X|--method|--field|--input)\b/.test(part);
  return ["view", "diff", "list", "checks", "status"].includes(verb);
}
