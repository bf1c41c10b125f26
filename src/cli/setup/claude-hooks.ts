/**
 * Claude Code's hooks that call `backscroll hook claude-code`, in its settings.
 *
 * The matcher excludes resumed sessions, which have their context already.
 */

import { isPlainObject } from "../../model/json.ts";
import { quote } from "../program.ts";
import type { Agent } from "./agents.ts";
import type { Change, Presence } from "./change.ts";
import { addJson, getJson, removeJson } from "./jsonc-edit.ts";

/** In seconds: longer than needed, but short enough if something hangs. */
const TIMEOUT_S = 10;

const EVENTS: readonly { readonly event: string; readonly matcher?: string }[] = [
  { event: "SessionStart", matcher: "startup|clear|compact" },
  { event: "PreCompact" },
  { event: "SessionEnd" },
];

/** A hook that calls this program, wherever it is installed. */
const OURS = /\bbackscroll(?:\.js|\.cmd)?["']? hook claude-code\b/;

type IsOurs = (command: string) => boolean;

/** `words` are the command line of a hook. */
export function hooksChange(agent: Agent, file: string, words: readonly string[]): Change {
  const command = words.map(quote).join(" ");
  // Other tools are called with `hook claude-code` too.
  const isOurs = (line: string) => line === command || OURS.test(line);
  const addAll = (text: string, line: string) =>
    EVENTS.reduce((edited, { event, matcher }) => {
      const group = {
        ...(matcher === undefined ? {} : { matcher }),
        hooks: [{ type: "command", command: line, timeout: TIMEOUT_S }],
      };
      return addJson(edited, ["hooks", event], group);
    }, text);
  const remove = (text: string) =>
    EVENTS.reduce((edited, { event }) => without(edited, event, isOurs), text);
  const presence = (text: string): Presence => {
    const found = EVENTS.map(({ event }) => ourCommands(text, event, isOurs));
    if (found.every((commands) => commands.length === 0)) return "absent";
    const isSame = found.every((commands) => commands.length === 1 && commands[0] === command);
    return isSame ? "same" : "different";
  };
  return {
    agent,
    what: "hooks",
    file,
    remove,
    presence,
    isOnlyOurs: (text) => presence(text) === "same",
    add: (text) => addAll(remove(text), command),
    addAsIn: (current, text) => {
      const [line] = EVENTS.flatMap(({ event }) => ourCommands(current, event, isOurs));
      return line === undefined ? text : addAll(text, line);
    },
  };
}

/** Our hooks for an event, of any installation. */
function ourCommands(text: string, event: string, isOurs: IsOurs): string[] {
  return groupsOf(text, event).flatMap((group) => commandsOf(group).filter(isOurs));
}

function groupsOf(text: string, event: string): readonly unknown[] {
  const groups = getJson(text, ["hooks", event]);
  return Array.isArray(groups) ? groups : [];
}

function commandsOf(group: unknown): string[] {
  const hooks = isPlainObject(group) ? group["hooks"] : undefined;
  if (!Array.isArray(hooks)) return [];
  return hooks.map((hook) => (isPlainObject(hook) ? String(hook["command"] ?? "") : ""));
}

/** Removes our hooks, then groups, lists and objects that become empty. */
function without(text: string, event: string, isOurs: IsOurs): string {
  let edited = text;
  for (let i = groupsOf(text, event).length - 1; i >= 0; i--) {
    const commands = commandsOf(groupsOf(text, event)[i]);
    if (!commands.some(isOurs)) continue;
    if (commands.every(isOurs)) edited = removeJson(edited, ["hooks", event, i]);
    else {
      for (let k = commands.length - 1; k >= 0; k--) {
        if (!isOurs(commands[k] ?? "")) continue;
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
