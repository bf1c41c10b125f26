/** Our hooks in the files of the agents that have any, as changes of `setup`. */

import { isDeepStrictEqual } from "node:util";
import type { Environment } from "../../ingest/source.ts";
import { HOOK_TOOL } from "../../mcp/hook-call.ts";
import { isPlainObject } from "../../model/json.ts";
import { HOOK_AGENTS, type HookAgent } from "../hook/output.ts";
import { quote } from "../program.ts";
import { type Agent, ENTRY_NAME } from "./agents.ts";
import type { Change, Presence } from "./change.ts";
import { type HookRow, hookRows } from "./hook-rows.ts";
import { addJson, getJson, removeJson, setJson } from "./jsonc-edit.ts";
import { opencodePlugin } from "./opencode-plugin.ts";
import { getToml } from "./toml-edit.ts";

/** `program` is its command line. Undefined for an agent without hooks. */
export function hooksChange(
  agent: Agent,
  machine: Environment,
  program: readonly string[],
  options: readonly string[] = [],
): Change | undefined {
  const name = HOOK_AGENTS.find((each) => each === agent.name);
  const file = agent.hooks?.(machine);
  if (name === undefined || file === undefined) return undefined;
  const words = [...program, "hook", name, ...options];
  const parts = PARTS[name] ?? listedHooks;
  return { agent, what: "hooks", file, ...parts(name, words.map(quote).join(" "), words) };
}

type Parts = Omit<Change, "agent" | "what" | "file">;
type MakeParts = (name: HookAgent, command: string, words: readonly string[]) => Parts;

const PARTS: Readonly<Partial<Record<HookAgent, MakeParts>>> = {
  opencode: (_name, _command, words) => ownFile(opencodePlugin(words)),
  "copilot-cli": (name, command) => {
    const groups = Map.groupBy(hookRows(name, command), ({ event }) => event);
    const hooks = [...groups].map(([event, rows]) => [event, rows.map(({ entry }) => entry)]);
    return ownFile(setJson("", [], { version: 1, hooks: Object.fromEntries(hooks) }));
  },
  "kimi-code": tomlHooks,
};

/** A file that has nothing else. */
function ownFile(wanted: string): Parts {
  return {
    presence: (text) => (text === wanted ? "same" : text.trim() === "" ? "absent" : "different"),
    isOnlyOurs: (text) => text === wanted,
    add: () => wanted,
    remove: () => "",
    addAsIn: (current, text) => (text === "" ? current : text),
  };
}

/** Kimi Code lists its hooks as tables. */
function tomlHooks(name: HookAgent, command: string): Parts {
  const blocks = hookRows(name, command).map(({ event, entry }) => {
    const fields = Object.entries({ event, ...entry });
    const lines = fields.map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
    return ["[[hooks]]", ...lines, ""].join("\n");
  });
  const wanted = blocks.join("\n");
  const parse = (text: string) => getToml(text, []);
  const remove = (text: string) => text.replace(OUR_TABLE, (table) => (isOurs(table) ? "" : table));
  const isOurs = (table: string) => ourCommand(name).test(table);
  const presence = (text: string): Presence => {
    parse(text);
    const ours = (text.match(OUR_TABLE) ?? []).filter(isOurs);
    if (ours.length === 0) return "absent";
    return ours.map((each) => each.trim()).join("\n\n") === wanted.trim() ? "same" : "different";
  };
  const append = (text: string, table: string) =>
    text.trim() === "" ? table : `${text.replace(/\n?$/, "\n")}\n${table}`;
  return {
    presence,
    remove: (text) => `${remove(text).trimEnd()}\n`.replace(/^\n$/, ""),
    isOnlyOurs: (text) => presence(text) === "same",
    add: (text) => append(remove(text), wanted),
    addAsIn: (current, text) => {
      const ours = (current.match(OUR_TABLE) ?? []).filter(isOurs);
      return ours.reduce(append, text);
    },
  };
}

/** A table of hooks, to the next one or the end. */
const OUR_TABLE = /^\[\[hooks\]\]\n(?:(?!\[).*(?:\n|$))*/gm;

/** A command line that calls this program, wherever it is installed. */
function ourCommand(name: HookAgent): RegExp {
  return new RegExp(`\\bbackscroll(?:\\.js|\\.cmd)?\\\\?["']? hook ${name}\\b`);
}

type IsOurs = (hook: unknown) => boolean;

/** In JSON, by their events: in groups with matchers. */
function listedHooks(name: HookAgent, command: string): Parts {
  const rows = hookRows(name, command);
  const events = [...new Set([...rows.map(({ event }) => event)])];
  // Other tools are called with the same words, too.
  const isOurs = (hook: unknown) => {
    if (!isPlainObject(hook)) return false;
    const { command: line, server, tool } = hook;
    if (server === ENTRY_NAME && tool === HOOK_TOOL) return true;
    return typeof line === "string" && (line === command || ourCommand(name).test(line));
  };
  const addAll = (text: string, added: readonly HookRow[]) =>
    added.reduce((edited, { event, entry }) => addJson(edited, ["hooks", event], entry), text);
  const remove = (text: string) =>
    events.reduce((edited, event) => without(edited, event, isOurs), text);
  const ours = (text: string): HookRow[] =>
    events.flatMap((event) =>
      groupsOf(text, event)
        .filter((group) => hooksOf(group).some(isOurs))
        .map((entry) => ({ event, entry: entry as HookRow["entry"] })),
    );
  const presence = (text: string): Presence => {
    const found = ours(text);
    if (found.length === 0) return "absent";
    return isDeepStrictEqual(found, rows) ? "same" : "different";
  };
  return {
    remove,
    presence,
    isOnlyOurs: (text) => presence(text) === "same",
    add: (text) => addAll(remove(text), rows),
    addAsIn: (current, text) => addAll(text, ours(current)),
  };
}

function groupsOf(text: string, event: string): readonly unknown[] {
  const groups = getJson(text, ["hooks", event]);
  return Array.isArray(groups) ? groups : [];
}

function hooksOf(group: unknown): readonly unknown[] {
  const hooks = isPlainObject(group) ? group["hooks"] : undefined;
  return Array.isArray(hooks) ? hooks : [];
}

/** Removes our hooks, then groups, lists and objects that become empty. */
function without(text: string, event: string, isOurs: IsOurs): string {
  let edited = text;
  for (let i = groupsOf(text, event).length - 1; i >= 0; i--) {
    const commands = hooksOf(groupsOf(text, event)[i]);
    if (!commands.some(isOurs)) continue;
    if (commands.every(isOurs)) edited = removeJson(edited, ["hooks", event, i]);
    else {
      for (let k = commands.length - 1; k >= 0; k--) {
        if (!isOurs(commands[k])) continue;
        edited = removeJson(edited, ["hooks", event, i, "hooks", k]);
      }
    }
  }
  if (edited === text) return text;
  if (groupsOf(edited, event).length === 0) edited = removeJson(edited, ["hooks", event]);
  const hooks = getJson(edited, ["hooks"]);
  const isEmpty = isPlainObject(hooks) && Object.keys(hooks).length === 0;
  return isEmpty ? removeJson(edited, ["hooks"]) : edited;
}
