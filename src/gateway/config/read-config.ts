/**
 * Checks a configuration, fills in defaults, and records the source of each value.
 *
 * A value of the wrong type, and an unknown key, is an error that names the key.
 */

import { readFileSync } from "node:fs";
import { BackscrollError } from "../../model/errors.ts";
import { unknownField } from "../../model/input.ts";
import { isPlainObject, type JsonValue } from "../../model/json.ts";
import type { Variables } from "../../model/variables.ts";
import { configPlace } from "./find-config.ts";
import type { GatewayConfig, GatewayConfigInput } from "./gateway-config.ts";
import { presetOf, SETTINGS, type Setting } from "./settings.ts";

export type SettingSource = "default" | "file" | "environment";

export interface ReadSetting {
  readonly key: string;
  /** As written, or the default; null: not set. */
  readonly value: JsonValue;
  readonly from: SettingSource;
  readonly help: string;
}

export interface ReadConfig {
  readonly config: GatewayConfig;
  readonly settings: readonly ReadSetting[];
}

/** Throws `invalid_input` naming the first key that is unknown, or whose value is wrong. */
export function readConfig(
  input: GatewayConfigInput | GatewayConfig,
  variables: Variables = {},
): ReadConfig {
  if (!isPlainObject(input)) throw wrong("the configuration", "an object");
  const leaves = leavesOf(input);
  const config: Record<string, unknown> = {};
  const settings: ReadSetting[] = [];
  for (const setting of SETTINGS) {
    const found = leaves.filter((leaf) => leaf.setting === setting);
    if (found.length === 0) found.push({ setting, path: setting.key.split("."), value: null });
    for (const leaf of found) {
      const read = readLeaf(leaf, variables);
      settings.push(read.setting);
      if (read.used !== undefined) place(config, leaf.path, read.used);
    }
  }
  return { config: complete(config), settings };
}

interface Leaf {
  readonly setting: Setting;
  readonly path: readonly string[];
  /** Null: not set. */
  readonly value: unknown;
}

function readLeaf(
  { setting, path, value }: Leaf,
  variables: Variables,
): { readonly setting: ReadSetting; readonly used: JsonValue | undefined } {
  const { kind, help } = setting;
  const key = path.join(".");
  const made = (written: JsonValue, from: SettingSource) => {
    const isShownOnly = written === null || (from === "default" && setting.implied === true);
    const used = isShownOnly ? undefined : kind.read(written);
    return { setting: { key, value: written, from, help }, used };
  };
  if (value !== null && kind.read(value) === undefined) throw wrong(key, kind.wanted);
  const variable = positive(variables[setting.variable ?? ""]);
  if (variable !== undefined) return made(variable, "environment");
  return value === null ? made(presetOf(setting), "default") : made(value as JsonValue, "file");
}

/** The variable counts only as a number above 0. */
function positive(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*0*[1-9]\d{0,14}\s*$/.test(text) ? Number(text) : undefined;
}

/** All values. */
function leavesOf(input: Readonly<Record<string, unknown>>): Leaf[] {
  const leaves: Leaf[] = [];
  const walk = (node: Readonly<Record<string, unknown>>, above: readonly string[]) => {
    for (const [name, value] of Object.entries(node)) {
      const path = [...above, name];
      if (value === undefined) continue;
      const setting = SETTINGS.find((each) => fits(each.key.split("."), path, "whole"));
      const isAbove = SETTINGS.some((each) => fits(each.key.split("."), path, "beginning"));
      if (name === "__proto__") throw unknownKey(path);
      else if (setting !== undefined) leaves.push({ setting, path, value });
      else if (isAbove && isPlainObject(value)) walk(value, path);
      else if (isAbove && value !== null) throw wrong(path.join("."), "an object");
      else if (!isAbove) throw unknownKey(path);
    }
  };
  walk(input, []);
  return leaves;
}

/** Suggests a key of the same depth. */
function unknownKey(path: readonly string[]): BackscrollError {
  const known = SETTINGS.map(({ key }) =>
    key
      .split(".")
      .slice(0, path.length)
      .map((part, i) => (part === "*" ? path[i] : part))
      .join("."),
  );
  return unknownField(path.join("."), "the configuration", [...new Set(known)]);
}

function fits(
  pattern: readonly string[],
  path: readonly string[],
  how: "whole" | "beginning",
): boolean {
  const isLong = how === "whole" ? pattern.length === path.length : pattern.length > path.length;
  return isLong && path.every((name, i) => pattern[i] === "*" || pattern[i] === name);
}

function place(target: Record<string, unknown>, path: readonly string[], value: JsonValue): void {
  let node = target;
  for (const name of path.slice(0, -1)) {
    if (!Object.hasOwn(node, name)) node[name] = {};
    node = node[name] as Record<string, unknown>;
  }
  node[path.at(-1) ?? ""] = value;
}

/** Adds null for an unset value and an empty object for an unset group. */
function complete(config: Record<string, unknown>): GatewayConfig {
  const { session, agents, embedder, ...rest } = config as unknown as GatewayConfig;
  const { defaults } = agents;
  return {
    ...rest,
    embedder: {
      url: embedder?.url ?? null,
      model: embedder?.model ?? null,
      dimensions: embedder?.dimensions ?? null,
    },
    session: {
      ...session,
      identityLinks: session.identityLinks ?? {},
      maintenance: {
        ...session.maintenance,
        maxDiskBytes: session.maintenance.maxDiskBytes ?? null,
        highWaterBytes: session.maintenance.highWaterBytes ?? null,
      },
    },
    agents: {
      defaults: {
        ...defaults,
        model: defaults.model ?? null,
        instructions: defaults.instructions ?? null,
        contextTokens: defaults.contextTokens ?? null,
        compaction: {
          ...defaults.compaction,
          memoryFlush: {
            ...defaults.compaction.memoryFlush,
            prompt: defaults.compaction.memoryFlush.prompt ?? null,
            systemPrompt: defaults.compaction.memoryFlush.systemPrompt ?? null,
          },
        },
      },
    },
  };
}

function wrong(key: string, wanted: string): BackscrollError {
  return new BackscrollError("invalid_input", `${key} must be ${wanted}`, {
    details: { field: key },
  });
}

/** Finds and reads the configuration file. */
export interface LoadedConfig extends ReadConfig {
  readonly path: string;
  /** False: no file, so every setting has its default. */
  readonly exists: boolean;
}

/**
 * Reads `~/.backscroll/config.json`, or the file that `BACKSCROLL_CONFIG` names. Throws
 * `invalid_input` if the file is unreadable, is not JSON, or was named and is missing.
 */
export function loadConfig(home: string, variables: Variables): LoadedConfig {
  const { path, isNamed } = configPlace(home, variables);
  const text = readText(path, isNamed);
  const input = text === undefined ? {} : parse(text, path);
  try {
    return { path, exists: text !== undefined, ...readConfig(input, variables) };
  } catch (cause) {
    if (!BackscrollError.is(cause)) throw cause;
    const { code, details } = cause;
    throw new BackscrollError(code, `${cause.message}; see ${path}`, { details, cause });
  }
}

function readText(path: string, isNamed: boolean): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    if (isMissing && !isNamed) return undefined;
    const what = isMissing ? "there is no file" : "cannot read the file";
    throw invalid(`${what} ${path}; BACKSCROLL_CONFIG names another`, path, cause);
  }
}

function parse(text: string, path: string): GatewayConfigInput {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, "")) as GatewayConfigInput;
  } catch (cause) {
    throw invalid(`${path} is not JSON: ${(cause as Error).message}`, path, cause);
  }
}

function invalid(message: string, path: string, cause: unknown): BackscrollError {
  return new BackscrollError("invalid_input", message, {
    details: { field: "config", path },
    cause,
  });
}
