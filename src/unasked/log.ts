/**
 * What was said unasked, and what would have been: a record each, the newest first. It also decides
 * what is not said again.
 */

import type { TenantApi } from "../engine/interfaces.ts";
import type { Entry } from "../model/entry.ts";
import { isPlainObject, type JsonObject } from "../model/json.ts";
import { unlessDeleted } from "../recap/found-session.ts";
import { MOMENTS, type UnaskedHit } from "./moment.ts";

const NAMESPACE = "backscroll-unasked";

/** What a decision looks back at. */
const RECENT = 500;

export interface Injection {
  /** For a person to name it by. */
  readonly number: number;
  readonly at: number;
  readonly moment: (typeof MOMENTS)[number];
  readonly agent: string;
  /** The agent's name of the session that it was said to. */
  readonly session: string;
  readonly cwd: string;
  /** False: it was only noted down. */
  readonly said: boolean;
  readonly text: string;
  readonly person: string;
  readonly hit: UnaskedHit;
  /** What a later call has if it was used: a command, the session's id. */
  readonly signs: readonly string[];
  readonly used: boolean;
  /** A person does not want it again. */
  readonly unwanted: boolean;
}

/** At most so many to one session. */
const MAX_OF_SESSION = 5;
/** Unused so often, it is not said again. */
const MAX_UNUSED = 2;

/** Why it is not said, by what was said before. */
export async function refusalOf(
  tenant: TenantApi,
  hit: UnaskedHit,
  session: string,
): Promise<"already_said" | "unwanted" | "enough" | undefined> {
  const log = await readLog(tenant);
  const here = log.filter((each) => each.said && each.session === session);
  if (here.length >= MAX_OF_SESSION) return "enough";
  const same = log.filter((each) => isSame(each.hit, hit));
  if (same.some((each) => each.session === session)) return "already_said";
  if (same.some(({ unwanted }) => unwanted)) return "unwanted";
  const unused = (each: readonly Injection[]) => each.filter(({ said, used }) => said && !used);
  if (unused(same).length < MAX_UNUSED) return undefined;
  return unused(await settleUse(tenant, same)).length < MAX_UNUSED ? undefined : "unwanted";
}

function isSame(one: UnaskedHit, other: UnaskedHit): boolean {
  return one.sessionId === other.sessionId && one.index === other.index;
}

/** The newest first. */
export async function readLog(
  tenant: TenantApi,
  limit: number = RECENT,
): Promise<readonly Injection[]> {
  const { records } = await tenant.records.list({ namespace: NAMESPACE, limit, values: true });
  return records.flatMap(({ value }) => toInjection(value) ?? []);
}

/** Gives the number. Two processes at once: one of them takes the next. */
export async function note(
  tenant: TenantApi,
  injection: Omit<Injection, "number" | "used" | "unwanted">,
): Promise<number> {
  const [last] = await readLog(tenant, 1);
  for (let number = (last?.number ?? 0) + 1; ; number++) {
    const value = toValue({ ...injection, number, used: false, unwanted: false });
    const place = { namespace: NAMESPACE, key: keyOf(number) };
    if ((await tenant.records.find(NAMESPACE, keyOf(number))) !== undefined) continue;
    await tenant.records.put({ ...place, value });
    return number;
  }
}

export async function setFlags(
  tenant: TenantApi,
  number: number,
  flags: Partial<Pick<Injection, "used" | "unwanted">>,
): Promise<Injection | undefined> {
  const found = await tenant.records.find(NAMESPACE, keyOf(number));
  const injection = toInjection(found?.value);
  if (injection === undefined) return undefined;
  const changed = { ...injection, ...flags };
  await tenant.records.put({ namespace: NAMESPACE, key: keyOf(number), value: toValue(changed) });
  return changed;
}

/** How long a use is looked for. */
const MAX_AGE_MS = 7 * 24 * 3_600_000;

/** The log, in which what was used since is marked. */
export async function settleUse(
  tenant: TenantApi,
  log: readonly Injection[],
): Promise<readonly Injection[]> {
  const settled: Injection[] = [];
  for (const each of log) {
    const isOpen = each.said && !each.used && Date.now() - each.at < MAX_AGE_MS;
    const used = isOpen && (await isUsed(tenant, each));
    settled.push(used ? ((await setFlags(tenant, each.number, { used })) ?? each) : each);
  }
  return settled;
}

/** The newest messages of a session, in which a use is looked for. */
const PAGE = 100;
const MAX_READ = 1_000;

/** Whether the session that it was said to has done what it said, or opened where it pointed. */
async function isUsed(tenant: TenantApi, { session, at, signs }: Injection): Promise<boolean> {
  if (signs.length === 0 || session === "") return false;
  const meta = await unlessDeleted(() => tenant.getSessionMeta(session));
  if (meta === undefined) return false;
  for (let left = meta.messageCount; left > Math.max(0, meta.messageCount - MAX_READ); ) {
    const offset = Math.max(0, left - PAGE);
    const { messages } = await tenant.listMessages(meta.id, { offset, limit: left - offset });
    const later = messages.filter(({ createdAt }) => createdAt >= at);
    if (later.some((message) => shows(message, signs))) return true;
    if (later.length < messages.length) return false;
    left = offset;
  }
  return false;
}

function shows({ blocks }: Entry, signs: readonly string[]): boolean {
  return blocks.some((block) => {
    if (block.type !== "tool_use") return false;
    const input = JSON.stringify(block.input);
    return signs.some((sign) => input.includes(JSON.stringify(sign).slice(1, -1)));
  });
}

/** Newer ones first: keys are listed in the order of their bytes. */
function keyOf(number: number): string {
  return String(1e12 - number).padStart(12, "0");
}

function toValue(injection: Injection): JsonObject {
  return { ...injection, hit: { ...injection.hit }, signs: [...injection.signs] };
}

/** Undefined for a record that somebody else put there. */
function toInjection(value: unknown): Injection | undefined {
  if (!isPlainObject(value) || !isPlainObject(value["hit"])) return undefined;
  const { number, moment, session, text } = value;
  const isOurs =
    typeof number === "number" &&
    MOMENTS.some((each) => each === moment) &&
    typeof session === "string" &&
    typeof text === "string" &&
    Array.isArray(value["signs"]);
  return isOurs ? (value as unknown as Injection) : undefined;
}
