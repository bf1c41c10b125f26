/** What Backscroll keeps on this machine, who may read it, and where it is sent. */

import { lstatSync, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { hidePasswords } from "../../../api/error.ts";
import type { TenantEngine } from "../../../engine/tenant-engine.ts";
import { thisMachine } from "../../../ingest/identity/identity.ts";
import { BackscrollError } from "../../../model/errors.ts";
import { MAX_PAGE } from "../../../model/limits.ts";
import { readVariable, type VariableName } from "../../../model/variables.ts";
import { selectSessions } from "../../../recap/select-sessions.ts";
import { MEMORY } from "../../../store/store-options.ts";
import { type Command, defineCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { counted, formatBytes } from "../../print.ts";
import { readRules, ruleLines, type WireRules } from "../../read-rules.ts";
import { embedderSettings } from "../../settings/models.ts";
import { runningServers } from "../../settings/own-servers.ts";
import { AGENTS } from "../../setup/agents.ts";
import { fileOf, isHere, readServer } from "../../setup/change.ts";
import { readConfig } from "../../setup/config-file.ts";
import { hooksChange } from "../../setup/hooks.ts";
import { refuseServer, withOwnTenant } from "../../store.ts";
import { clip, wrapLine } from "../../text.ts";

export const trust: Command = defineCommand({
  name: "trust",
  summary: "Show what is kept on this machine, who can read it, and what leaves it.",
  details:
    "The table of docs/trust.md, of this machine: files with their modes and sizes, sessions by agent, tokens, shares and running servers of this user, agents that were set up, and where content is sent. It only reads, and connects to nothing but the store.",
  examples: ["trust"],
  run: async (context) => {
    refuseServer(context, "trust", "run it where the store is");
    const { contents, rules } = await contentsOf(context);
    const { agents, unreadable } = await setUpAgents();
    const found = {
      store: hidePasswords(context.address),
      contents,
      rules,
      files: keptFiles(context.address),
      servers: openServers(),
      agents,
      unreadable,
      receivers: await receivers(context.address),
    };
    const { terminal, json } = context;
    if (json) await terminal.printJson(found);
    else {
      const rows = [
        ...storeRows(found),
        ...ruleRows(found),
        ...accessRows(found),
        ...outwardRows(found),
      ];
      for (const [name, text] of rows) {
        const columns = Math.min(terminal.columns, MAX_COLUMNS);
        for (const line of wrapLine(`${name.padEnd(NAME_COLUMNS)}${short(text)}`, columns)) {
          await terminal.print(clip(line, columns));
        }
      }
    }
  },
});

/** Of a file or a pipe, too. */
const MAX_COLUMNS = 100;
const NAME_COLUMNS = 11;
/** Of the lines that `doctor` prints as they are. */
const RULE_NAME_COLUMNS = 10;

type Row = readonly [name: string, text: string];

interface Found {
  readonly store: string;
  readonly contents: StoreContents | null;
  readonly rules: WireRules | null;
  readonly files: ReturnType<typeof keptFiles>;
  readonly servers: ReturnType<typeof openServers>;
  readonly agents: Awaited<ReturnType<typeof setUpAgents>>["agents"];
  readonly unreadable: readonly string[];
  readonly receivers: Awaited<ReturnType<typeof receivers>>;
}

/** Null: there is no store yet. */
async function contentsOf(context: Context): Promise<Pick<Found, "contents" | "rules">> {
  try {
    return await withOwnTenant(context, "read", async (tenant) => {
      return { contents: await readContents(tenant), rules: await readRules(tenant) };
    });
  } catch (error) {
    if (BackscrollError.is(error, "store_not_found")) return { contents: null, rules: null };
    throw error;
  }
}

/** What is left out of the store, what is deleted by age, and what the machine's policy forbids. */
function ruleRows({ rules }: Found): Row[] {
  if (rules === null) return [];
  return ruleLines(rules).map((line) => [
    line.slice(0, RULE_NAME_COLUMNS).trim(),
    line.slice(RULE_NAME_COLUMNS),
  ]);
}

function storeRows({ store, contents, files }: Found): Row[] {
  const rows: Row[] = [["Store", contents === null ? `${store} (not there yet)` : store]];
  if (contents !== null) {
    const { sessions, messages, memories, facts, originals, agents } = contents;
    const notes = [counted(memories, "memory"), counted(facts, "fact")];
    rows.push(["Holds", `${counted(sessions, "session")} with ${counted(messages, "message")}`]);
    rows.push(["", [counted(originals, "kept transcript"), ...notes].join(", ")]);
    const byAgent = Object.entries(agents).sort(([, a], [, b]) => b - a);
    for (const [agent, count] of byAgent)
      rows.push(["", `${counted(count, "session")} of ${agent}`]);
  }
  files.forEach(({ path, bytes, mode, others }, i) => {
    const size = formatBytes(bytes).padStart(10);
    const open = others ? "  others may read it" : "";
    rows.push([i === 0 ? "Files" : "", `${mode ?? ""} ${size}  ${path}${open}`]);
  });
  return rows;
}

function accessRows({ contents, servers, agents, unreadable }: Found): Row[] {
  const { share = 0, ...scopes } = contents?.tokens ?? {};
  const tokens = Object.entries(scopes).map(([scope, count]) => `${count} ${scope}`);
  const urls = servers.map(({ url, reachable }) =>
    reachable ? `${url} (other machines, with a token)` : `${url} (this machine)`,
  );
  return [
    ["Tokens", tokens.length === 0 ? "none" : tokens.join(", ")],
    ["Shares", share === 0 ? "none" : counted(share, "open link")],
    ["Servers", urls.length === 0 ? "none runs" : urls.join(", ")],
    ...listed(
      "Agents",
      agents.map(({ agent, what, file }) => `${agent}, ${WHAT[what]}: ${file}`),
      "none is set up",
    ),
    ...listed("Unreadable", unreadable),
  ];
}

const WHAT = { server: "MCP", hooks: "hooks" } as const;

function outwardRows({ receivers: all }: Found): Row[] {
  const texts = all.map(({ what, address, leaves }) => {
    return `${what}: ${address}${leaves ? "" : " (this machine)"}`;
  });
  const leaving = all.filter(({ leaves }) => leaves);
  return [
    ...listed("Given to", texts, "no one"),
    [
      "Leaves",
      leaving.length === 0
        ? "nothing leaves this machine"
        : leaving.map(({ what }) => what).join(", "),
    ],
  ];
}

function listed(name: string, texts: readonly string[], none?: string): Row[] {
  const all = texts.length > 0 || none === undefined ? texts : [none];
  return all.map((text, i) => [i === 0 ? name : "", text] as const);
}

function short(text: string): string {
  return text.replaceAll(`${homedir()}/`, "~/");
}

/** A file of ours. */
interface KeptFile {
  readonly path: string;
  readonly bytes: number;
  /** As `0600`; null where the system has no modes. */
  readonly mode: string | null;
  /** Whether other users of the machine may read it, by its mode and its folder's. */
  readonly others: boolean;
}

interface StoreContents {
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
interface SetUpAgent {
  readonly agent: string;
  readonly what: "server" | "hooks";
  readonly file: string;
}

/** A place outside of this process that is given content. */
interface Receiver {
  readonly what: "store" | "replica" | "embedder" | "model" | "telemetry";
  readonly address: string;
  /** Whether that is another machine. */
  readonly leaves: boolean;
}

function keptFiles(address: string): readonly KeptFile[] {
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

async function readContents(tenant: TenantEngine): Promise<StoreContents> {
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
async function setUpAgents(): Promise<{
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
    const hooks = hooksChange(agent, machine, []);
    if (hooks === undefined) continue;
    await look({ agent: name, what: "hooks", file: hooks.file }, async () => {
      return hooks.presence((await readConfig(hooks.file)) ?? "") !== "absent";
    });
  }
  return { agents, unreadable: [...new Set(unreadable)] };
}

async function receivers(address: string): Promise<readonly Receiver[]> {
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
function openServers(): readonly { readonly url: string; readonly reachable: boolean }[] {
  return runningServers().map((url) => ({ url, reachable: !isHereAddress(url) }));
}
