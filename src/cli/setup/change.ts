/**
 * Plans the changes of `setup`, before anything is written: of each agent's configuration the
 * current state, our addition, its removal.
 */

import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { hidePasswords } from "../../api/error.ts";
import { maskText } from "../../api/mask.ts";
import type { Environment } from "../../ingest/source.ts";
import { isPlainObject } from "../../model/json.ts";
import { didYouMean } from "../../model/suggest.ts";
import { usageError } from "../command.ts";
import { AGENTS, type Agent, ENTRY_NAME, type ServerCommand } from "./agents.ts";
import { COPY_SUFFIX, inFile, readConfig, reasonOf } from "./config-file.ts";
import { getJson, removeJson, setJson } from "./jsonc-edit.ts";
import { findProgram } from "./own-command.ts";
import { getToml, removeToml, setToml } from "./toml-edit.ts";
import { getYaml, removeYaml, setYaml } from "./yaml-edit.ts";

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
  const { get, set, remove } = FORMATS[agent.format];
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
      const isOther = isPlainObject(entry) && !("command" in entry);
      return set(isOther ? remove(text, path) : text, path, wanted);
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

const FORMATS: Readonly<Record<Agent["format"], Format>> = {
  json: {
    get: getJson,
    set: (text, path, fields) => {
      const entry = getJson(text, path);
      return setJson(text, path, { ...(isPlainObject(entry) ? entry : {}), ...fields });
    },
    remove: removeJson,
  },
  toml: { get: getToml, set: setToml, remove: removeToml },
  yaml: { get: getYaml, set: setYaml, remove: removeYaml },
};

/** The server that an agent would start by its current file. */
export async function readServer(agent: Agent, file: string): Promise<ServerCommand | undefined> {
  const text = (await readConfig(file)) ?? "";
  const path = [...agent.path, ENTRY_NAME];
  const { get } = FORMATS[agent.format];
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

/** A unified diff of two texts (`diff -u`). */
const CONTEXT = 2;
/** More lines than this are shown as replaced: comparing them takes too long. */
const MAX_COMPARED = 2_000;

type Line = readonly [mark: " " | "+" | "-", text: string];

/** A line diff with ` `, `+` and `-`; `…` stands for equal lines. */
function diffLines(before: string, after: string): string[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (
    tail < Math.min(a.length, b.length) - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  ) {
    tail++;
  }
  const same = (lines: readonly string[]) => lines.map((line): Line => [" ", line]);
  const all: Line[] = [
    ...same(a.slice(0, head)),
    ...compare(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...same(a.slice(a.length - tail)),
  ];
  return withContext(all);
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
}

/** By the longest common subsequence. */
function compare(a: readonly string[], b: readonly string[]): Line[] {
  if (a.length > MAX_COMPARED || b.length > MAX_COMPARED) {
    return [...a.map((line): Line => ["-", line]), ...b.map((line): Line => ["+", line])];
  }
  const width = b.length + 1;
  const length = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number) => length[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      length[i * width + j] =
        a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push([" ", a[i++] ?? ""]);
      j++;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(["-", a[i++] ?? ""]);
    } else lines.push(["+", b[j++] ?? ""]);
  }
  return lines;
}

function withContext(lines: readonly Line[]): string[] {
  const changed = lines.flatMap(([mark], i) => (mark === " " ? [] : [i]));
  const near = new Set(
    changed.flatMap((i) => Array.from({ length: 2 * CONTEXT + 1 }, (_, k) => i - CONTEXT + k)),
  );
  return lines.flatMap(([mark, text], i) => {
    if (near.has(i)) return [`${mark} ${text}`];
    return i > 0 && near.has(i - 1) && i < lines.length - 1 ? ["  …"] : [];
  });
}

export interface Planned {
  readonly change: Change;
  readonly presence: Presence;
  /** The file's current and planned text; undefined if missing. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** Why the file is left alone. */
  readonly failure?: string;
}

/** The named agents, else all on this machine. */
export function selectAgents(names: readonly string[], machine: Environment): readonly Agent[] {
  if (names.length === 0) return AGENTS.filter((agent) => isHere(agent, machine));
  const known = AGENTS.map(({ name }) => name);
  return [...new Set(names)].map((name) => {
    const agent = AGENTS.find((each) => each.name === name);
    if (agent !== undefined) return agent;
    const suggestion = didYouMean(name, known) || `; known are ${known.join(", ")}`;
    throw usageError(`setup knows no agent ${name}${suggestion}`, "AGENT");
  });
}

export function isHere(agent: Agent, machine: Environment): boolean {
  return (
    agent.folders(machine).some((folder) => existsSync(folder)) ||
    agent.files(machine).some((file) => existsSync(file)) ||
    agent.executables.some((name) => findProgram(name, machine) !== undefined)
  );
}

export function fileOf(agent: Agent, machine: Environment): string {
  const files = agent.files(machine);
  return files.find((file) => existsSync(file)) ?? files[0] ?? "";
}

export async function planAdding(change: Change): Promise<Planned> {
  const { before, failure } = await tryReading(change);
  if (failure !== undefined) return leftAlone(change, failure);
  const { whyNotNew } = change.agent;
  if (before === undefined && whyNotNew !== undefined) return leftAlone(change, whyNotNew);
  return inFile(change.file, () => {
    const presence = change.presence(before ?? "");
    const after = presence === "same" ? before : change.add(before ?? "");
    return { change, presence, before, after };
  });
}

export async function planRemoving(change: Change): Promise<Planned> {
  const { before, failure } = await tryReading(change);
  if (failure !== undefined) return leftAlone(change, failure);
  const copy = await readConfig(copyOf(change)).catch(() => undefined);
  return inFile(change.file, () => {
    const presence = change.presence(before ?? "");
    const isThere = before !== undefined && presence !== "absent";
    const after = isThere ? withoutOurs(change, before, copy) : before;
    return { change, presence, before, after };
  });
}

async function tryReading({ file }: Change): Promise<{ before?: string; failure?: string }> {
  try {
    const before = await readConfig(file);
    return before === undefined ? {} : { before };
  } catch (error) {
    return { failure: reasonOf(error) };
  }
}

function leftAlone(change: Change, failure: string): Planned {
  return { change, presence: "absent", before: undefined, after: undefined, failure };
}

/** For display: secrets in neighbouring lines are masked. */
export function diffOf({ before, after }: Planned): string[] {
  return diffLines(before ?? "", after ?? "").map(masked);
}

/** Our part as a file of its own, for display. */
export function pasteOf({ change }: Planned): string[] {
  return linesOf(change.add("")).map(masked);
}

function masked(line: string): string {
  return maskText(hidePasswords(line));
}
