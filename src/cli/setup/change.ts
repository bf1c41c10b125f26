/** An edit of an agent's configuration: current state, our addition, its removal. */

import { isDeepStrictEqual } from "node:util";
import { isPlainObject } from "../../model/json.ts";
import { type Agent, ENTRY_NAME, type ServerCommand } from "./agent.ts";
import { COPY_SUFFIX, inFile, readConfig } from "./config-file.ts";
import { getJson, removeJson, setJson } from "./jsonc-edit.ts";
import { getToml, removeToml, setToml } from "./toml-edit.ts";

export type Presence =
  | "absent"
  /** Equal to ours, apart from additional fields. */
  | "same"
  /** Another entry has our name. */
  | "different";

export interface Change {
  readonly agent: Agent;
  readonly what: "server" | "hooks";
  readonly file: string;
  /** These, and `presence`, throw a `ConfigError` for a text that does not parse. */
  readonly presence: (text: string) => Presence;
  /** Whether the removable part is exactly ours, so that adding it again restores it. */
  readonly isOnlyOurs: (text: string) => boolean;
  readonly add: (text: string) => string;
  readonly remove: (text: string) => string;
  /** Adds our part of `current` to `text`, unchanged. */
  readonly addAsIn: (current: string, text: string) => string;
}

/** The entry of our MCP server in the file of an agent. */
export function serverChange(agent: Agent, file: string, server: ServerCommand): Change {
  const wanted = agent.toEntry(server);
  const path = [...agent.path, ENTRY_NAME];
  const { get, set, remove } = agent.format === "toml" ? TOML : JSON_TEXT;
  const presence = (text: string): Presence => {
    const entry = get(text, path);
    if (entry === undefined) return "absent";
    const isSame =
      isPlainObject(entry) &&
      Object.entries(wanted).every(([name, value]) => isDeepStrictEqual(entry[name], value));
    return isSame ? "same" : "different";
  };
  return {
    agent,
    what: "server",
    file,
    presence,
    isOnlyOurs: (text) => isDeepStrictEqual(get(text, path), wanted),
    add: (text) => {
      const entry = get(text, path);
      // Clients refuse an entry with both a command and a URL, so none of its fields stay.
      const isRemote = isPlainObject(entry) && agent.fromEntry(entry) === undefined;
      return set(isRemote ? remove(text, path) : text, path, wanted);
    },
    remove: (text) => {
      // A JSON object may repeat a name; the last counts.
      let [before, after] = ["", text];
      while (before !== after && get(after, path) !== undefined) {
        [before, after] = [after, remove(after, path)];
      }
      return after;
    },
    addAsIn: (current, text) => {
      const entry = get(current, path);
      return isPlainObject(entry) ? set(text, path, entry) : text;
    },
  };
}

interface Format {
  readonly get: (text: string, path: readonly string[]) => unknown;
  /** Other fields of the entry stay. */
  readonly set: (text: string, path: readonly string[], fields: Record<string, unknown>) => string;
  readonly remove: (text: string, path: readonly string[]) => string;
}

const JSON_TEXT: Format = {
  get: getJson,
  set: (text, path, fields) => {
    const entry = getJson(text, path);
    return setJson(text, path, { ...(isPlainObject(entry) ? entry : {}), ...fields });
  },
  remove: removeJson,
};
const TOML: Format = {
  get: getToml,
  set: (text, path, fields) => setToml(text, path, fields as Parameters<typeof setToml>[2]),
  remove: removeToml,
};

/** The server that an agent would start by its current file. */
export async function readServer(agent: Agent, file: string): Promise<ServerCommand | undefined> {
  const text = (await readConfig(file)) ?? "";
  const path = [...agent.path, ENTRY_NAME];
  const { get } = agent.format === "toml" ? TOML : JSON_TEXT;
  const entry = inFile(file, () => get(text, path));
  return isPlainObject(entry) ? agent.fromEntry(entry) : undefined;
}

/**
 * The file without our part: byte for byte as before if it is otherwise unchanged; undefined if
 * there was no file.
 */
export function withoutOurs(
  change: Change,
  current: string,
  copy: string | undefined,
): string | undefined {
  const before = [copy, ""].find((text) => {
    if (text === undefined || (text !== "" && text === current)) return false;
    try {
      return change.presence(text) === "absent" && change.addAsIn(current, text) === current;
    } catch {
      return false;
    }
  });
  if (before === undefined) return change.remove(current);
  // An empty text also means a missing file.
  return before === "" && copy !== "" ? undefined : before;
}

export function copyOf(change: Change): string {
  return `${change.file}${COPY_SUFFIX}`;
}
