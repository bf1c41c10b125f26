/** What Backscroll keeps on this machine, who may read it, and where it is sent. */

import { lstatSync, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { hidePasswords } from "../../api/address.ts";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import { thisMachine } from "../../ingest/identity/identity.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import { readVariable, type VariableName } from "../../model/variables.ts";
import { selectSessions } from "../../recap/select-sessions.ts";
import { MEMORY } from "../../store/store-options.ts";
import { embedderSettings } from "../settings/embedder.ts";
import { AGENTS } from "../setup/agents.ts";
import { readServer } from "../setup/change.ts";
import { hooksChange } from "../setup/claude-hooks.ts";
import { readConfig } from "../setup/config-file.ts";
import { fileOf, hooksFileOf, isHere } from "../setup/plan.ts";
import { runningServers } from "./running-servers.ts";

/** A file of ours. */
export interface KeptFile {
  readonly path: string;
  readonly bytes: number;
  /** As `0600`; null where the system has no modes. */
  readonly mode: string | null;
  /** Whether other users of the machine may read it, by its mode and its folder's. */
  readonly others: boolean;
}

export interface StoreContents {
  readonly sessions: number;
  readonly agents: Readonly<Record<string, number>>;
  readonly messages: number;
  readonly memories: number;
  readonly facts: number;
  readonly originals: number;
  /** Valid ones by scope; shares are links. */
  readonly tokens: Readonly<Record<string, number>>;
}

/** Where an agent was told of Backscroll. */
export interface SetUpAgent {
  readonly agent: string;
  readonly what: "server" | "hooks";
  readonly file: string;
}

/** A place outside of this process that is given content. */
export interface Receiver {
  readonly what: "store" | "replica" | "embedder" | "model" | "telemetry";
  readonly address: string;
  /** Whether that is another machine. */
  readonly leaves: boolean;
}

export function keptFiles(address: string): readonly KeptFile[] {
  const home = join(homedir(), ".backscroll");
  const isFile = address !== MEMORY && !/^\w{2,}:\/\//.test(address);
  const store = resolve(address);
  const beside = isFile ? namesIn(dirname(store), (name) => isOfStore(name, basename(store))) : [];
  const own = namesIn(home, () => true);
  return [...new Set([...beside, ...own])].flatMap(describeFile);
}

/** The store, its logs, its index, and kept copies of damaged logs. */
function isOfStore(name: string, store: string): boolean {
  return name === store || name.startsWith(`${store}-`);
}

function namesIn(folder: string, isWanted: (name: string) => boolean): string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(folder)
    .filter(isWanted)
    .map((name) => join(folder, name));
}

function describeFile(path: string): KeptFile[] {
  // A link to a folder is not followed: it may lead back here.
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    return namesIn(path, () => true).flatMap(describeFile);
  }
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile()) return [];
  if (process.platform === "win32") return [{ path, bytes: found.size, mode: null, others: false }];
  const folder = statSync(dirname(path));
  const mode = `0${(found.mode & 0o777).toString(8).padStart(3, "0")}`;
  const others = (found.mode & 0o044) !== 0 && (folder.mode & 0o011) !== 0;
  return [{ path, bytes: found.size, mode, others }];
}

export async function readContents(tenant: TenantEngine): Promise<StoreContents> {
  const agents: Record<string, number> = {};
  for (const { agent } of await selectSessions(tenant, {})) {
    agents[agent] = (agents[agent] ?? 0) + 1;
  }
  const tokens: Record<string, number> = {};
  for (let after: string | undefined; ; ) {
    const input = { limit: MAX_PAGE, ...(after === undefined ? {} : { after }) };
    const page = await tenant.listTokens(input);
    for (const { scope, revokedAt, expiresAt } of page) {
      const isValid = revokedAt === null && (expiresAt ?? Number.POSITIVE_INFINITY) > Date.now();
      if (isValid) tokens[scope] = (tokens[scope] ?? 0) + 1;
    }
    after = page.at(-1)?.id;
    if (page.length < MAX_PAGE) break;
  }
  let originals = 0;
  for (let after: { workstation: string; path: string } | undefined; ; ) {
    const input = { limit: MAX_PAGE, ...(after === undefined ? {} : { after }) };
    const page = await tenant.originals.list(input);
    originals += page.length;
    after = page.at(-1);
    if (page.length < MAX_PAGE) break;
  }
  const {
    sessions = 0,
    messages = 0,
    memories = 0,
    facts = 0,
  } = (await tenant.tenantStatus()) ?? {};
  return { sessions, agents, messages, memories, facts, originals, tokens };
}

/** Agents on this machine whose files name us, and files that do not parse. */
export async function setUpAgents(): Promise<{
  readonly agents: readonly SetUpAgent[];
  readonly unreadable: readonly string[];
}> {
  const machine = thisMachine();
  const agents: SetUpAgent[] = [];
  const unreadable: string[] = [];
  const look = async (found: SetUpAgent, isThere: () => Promise<boolean>) => {
    try {
      if (await isThere()) agents.push(found);
    } catch {
      unreadable.push(found.file);
    }
  };
  for (const agent of AGENTS.filter((each) => isHere(each, machine))) {
    const file = fileOf(agent, machine);
    const { name } = agent;
    await look({ agent: name, what: "server", file }, async () => {
      return (await readServer(agent, file)) !== undefined;
    });
    if (name !== "claude-code") continue;
    const hooks = hooksChange(agent, hooksFileOf(machine), []);
    await look({ agent: name, what: "hooks", file: hooks.file }, async () => {
      return hooks.presence((await readConfig(hooks.file)) ?? "") !== "absent";
    });
  }
  return { agents, unreadable };
}

export async function receivers(address: string): Promise<readonly Receiver[]> {
  const variable = (name: VariableName) => readVariable(name, process.env);
  const found: Receiver[] = [];
  const add = (what: Receiver["what"], url: string | undefined) => {
    if (url !== undefined) {
      found.push({ what, address: hidePasswords(url), leaves: !isHereAddress(url) });
    }
  };
  if (/^postgres/i.test(address)) add("store", address);
  for (const replica of variable("BACKSCROLL_REPLICAS")?.split(",") ?? []) {
    add("replica", replica.trim());
  }
  const embedder = await embedderSettings();
  if (embedder !== undefined && embedder.url === undefined) {
    found.push({ what: "embedder", address: embedder.model ?? "", leaves: false });
  }
  add("embedder", embedder?.url);
  add("model", variable("BACKSCROLL_MODEL_URL"));
  const telemetry = variable("BACKSCROLL_TELEMETRY") ?? "off";
  if (telemetry !== "off") found.push({ what: "telemetry", address: telemetry, leaves: true });
  return found;
}

/** A PostgreSQL address without a host is a socket of this machine. */
function isHereAddress(address: string): boolean {
  try {
    const { hostname } = new URL(address);
    return ["", "localhost", "[::1]"].includes(hostname) || /^127\./.test(hostname);
  } catch {
    // Several hosts: at most one of them is this machine.
    return false;
  }
}

/** Servers of this user, and whether other machines may reach them. */
export function openServers(): readonly { readonly url: string; readonly reachable: boolean }[] {
  return runningServers().map((url) => ({ url, reachable: !isHereAddress(url) }));
}
