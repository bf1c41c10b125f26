/**
 * Answers a hook of an agent in the hub: what memory says unasked in this moment, or nothing.
 *
 * Silence costs the agent nothing, so every doubt is silence: a folder that a rule ignores, an
 * incognito session, a run without a person, a store that is late.
 */

import { ArchiveRules } from "../../archive/rules/archive-rules.ts";
import { isIncognito } from "../../archive/rules/incognito.ts";
import type { TenantApi } from "../../engine/interfaces.ts";
import { loadConfig } from "../../gateway/config/read-config.ts";
import { GitLookup } from "../../ingest/identity/git.ts";
import type { Environment } from "../../ingest/source.ts";
import { SOURCES } from "../../ingest/sources.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { isSwitchedOn } from "../../model/variables.ts";
import { readPolicy } from "../../policy.ts";
import { askUnasked } from "../../unasked/ask.ts";
import { note, refusalOf } from "../../unasked/log.ts";
import type { Unasked } from "../../unasked/moment.ts";
import type { HookInput } from "../pipe/place.ts";
import { HOOK_AGENTS, type HookAgent, hookOutput } from "./output.ts";
import { type HookCall, readHookCall, type Told } from "./payload.ts";

/** Past it, silence. */
const DEADLINE_MS = 150;
/** The same where no agent waits. */
const NOTE_MS = 2_000;

export interface HookQuestion extends HookInput {
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The process goes on after the answer: what is only noted down is not waited for. */
  readonly goesOn?: boolean;
}

/** What to print; empty for silence. Never rejects. */
export async function answerHook(
  tenant: TenantApi,
  question: HookQuestion,
  environment: Environment,
): Promise<string> {
  const moment = readMoment(question, environment);
  if (moment === undefined) return "";
  const isAwaited = moment.isSaid || question.goesOn !== true;
  const told = Number(question.variables["BACKSCROLL_HOOK_DEADLINE_MS"]);
  const deadlineMs = isAwaited ? told || DEADLINE_MS : NOTE_MS;
  const until = performance.now() + deadlineMs;
  const work = say(tenant, question, moment, environment, until).catch(() => "");
  if (!isAwaited) return "";
  const { promise: late, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(() => resolve(""), deadlineMs);
  const answer = await Promise.race([work, late]);
  clearTimeout(timer);
  return answer;
}

interface HookMoment {
  readonly agent: HookAgent;
  readonly call: HookCall;
  /** False: it is only noted down. */
  readonly isSaid: boolean;
}

/** Undefined where nothing is said. */
function readMoment(
  { agent: named, payload, variables }: HookQuestion,
  environment: Environment,
): HookMoment | undefined {
  const agent = HOOK_AGENTS.find((each) => each === named);
  const call = isPlainObject(payload) ? readHookCall(named, payload as JsonObject) : undefined;
  if (agent === undefined || call === undefined || isUnattended(variables)) return undefined;
  const how = settingFor(call.told, environment);
  if (how === "off" || readPolicy().forbidden.includes("hooks")) return undefined;
  return { agent, call, isSaid: how === "on" };
}

async function say(
  tenant: TenantApi,
  { cwd }: HookQuestion,
  { agent, call, isSaid }: HookMoment,
  environment: Environment,
  until: number,
): Promise<string> {
  const folder = call.cwd || cwd;
  if (await isKeptOut(tenant, agent, { ...call, cwd: folder }, environment)) return "";
  const said = await askUnasked(
    tenant,
    {
      ...call.told,
      cwd: folder,
      at: Date.now(),
      ...(call.session === "" ? {} : { session: call.session }),
    },
    { deadlineMs: left(until) },
  );
  if (!said.speaks || said.hit === null || performance.now() > until) return "";
  if ((await refusalOf(tenant, said.hit, call.session)) !== undefined) return "";
  // Noted down before it is said: nothing is said that the log does not show.
  await noteDown(tenant, agent, { ...call, cwd: folder }, said, isSaid);
  return isSaid ? hookOutput(agent, { ...said, event: call.event }) : "";
}

async function noteDown(
  tenant: TenantApi,
  agent: string,
  { session, cwd, told }: HookCall,
  { text, person, hit, signs }: Unasked,
  said: boolean,
): Promise<void> {
  if (hit === null) return;
  const { moment } = told;
  const at = Date.now();
  await note(tenant, { at, moment, agent, session, cwd, said, text, person, hit, signs });
}

const SETTING_OF: Readonly<Record<Told["moment"], string>> = {
  error: "unasked.errors",
  start: "unasked.starts",
  file: "unasked.files",
  prompt: "unasked.prompts",
};

/** `log`: noted down, and not said. */
function settingFor({ moment }: Told, { home, variables }: Environment): "on" | "log" | "off" {
  const { settings } = loadConfig(home, variables);
  const found = settings.find(({ key }) => key === SETTING_OF[moment])?.value;
  return found === "on" || found === "log" ? found : "off";
}

/** A build, or a program that runs the agent: no person sees what is said. */
function isUnattended(variables: HookQuestion["variables"]): boolean {
  if (isSwitchedOn("BACKSCROLL_UNATTENDED", variables)) return false;
  const { CI, GITHUB_ACTIONS, CLAUDE_CODE_ENTRYPOINT: entry = "" } = variables;
  return CI === "true" || CI === "1" || GITHUB_ACTIONS === "true" || entry.startsWith("sdk-");
}

async function isKeptOut(
  tenant: TenantApi,
  agent: string,
  { session, cwd }: Pick<HookCall, "session" | "cwd">,
  environment: Environment,
): Promise<boolean> {
  if (session !== "" && (await isIncognito(tenant, session, null))) return true;
  const agents = SOURCES.map(({ name }) => name);
  const rules = new ArchiveRules(environment, new GitLookup(), agents);
  await rules.refresh();
  return (await rules.find({ source: agent, agent, cwd })) !== undefined;
}

function left(until: number): number {
  return Math.max(1, Math.floor(until - performance.now()));
}
