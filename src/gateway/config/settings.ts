/** Every setting of a gateway: how it is parsed, how an error describes it, its default. */

import { DEFAULT_CONTEXT_TOKENS } from "../../context/context-window.ts";
import { COMPACTION } from "../../model/compaction-numbers.ts";
import { formatCount } from "../../model/display.ts";
import { SUMMARIZERS } from "../../model/inputs/choices.ts";
import type { JsonValue } from "../../model/json.ts";
import { SECRET_PREFIX, SECRET_PREFIX_WORDS } from "../../model/variables.ts";
import { DEFAULT_RESET_TRIGGERS, isTimeZone, RESET_MODES } from "../../routing/resets.ts";
import { DEFAULT_DM_SCOPE, DM_SCOPES } from "../../routing/resolve-key.ts";
import { AUTO_POLICIES, CLAW_VARIABLE, DEFAULT_AUTO_POLICY } from "../compaction/auto-policy.ts";

/** Whether a moment's hook speaks. */
export const UNASKED_MODES = ["on", "log", "off"] as const;

interface SettingKind {
  /** Completes an error's `must be …`. */
  readonly wanted: string;
  /** The parsed value; undefined if invalid. */
  readonly read: (value: unknown) => JsonValue | undefined;
}

function choice(...choices: readonly string[]): SettingKind {
  return {
    wanted: `one of ${choices.join(", ")}`,
    read: (value) => choices.find((each) => each === value),
  };
}

const TEXT: SettingKind = {
  wanted: "a text that is not empty",
  read: (value) => (typeof value === "string" && value.trim() !== "" ? value : undefined),
};

const TEXTS: SettingKind = {
  wanted: "a list of texts",
  read: (value) =>
    Array.isArray(value) && value.every((each) => TEXT.read(each) !== undefined)
      ? (value as string[])
      : undefined,
};

const SECRET_PREFIXES: SettingKind = {
  wanted: `a list of texts of ${SECRET_PREFIX_WORDS}`,
  read: (value) =>
    Array.isArray(value) && value.every((each) => SECRET_PREFIX.test(String(each)))
      ? value.map(String)
      : undefined,
};

const FLAG: SettingKind = {
  wanted: "true or false",
  read: (value) => (typeof value === "boolean" ? value : undefined),
};

const COUNT: SettingKind = {
  wanted: "a whole number of at least 0",
  read: (value) =>
    Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined,
};

const NUMBER: SettingKind = {
  wanted: "a number",
  read: (value) => (Number.isFinite(value) ? (value as number) : undefined),
};

const TIME_ZONE: SettingKind = {
  wanted: "a time zone such as Europe/Vienna or UTC",
  read: (value) => (typeof value === "string" && isTimeZone(value) ? value : undefined),
};

const DURATION_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** In milliseconds. */
const DURATION: SettingKind = {
  wanted: 'a duration such as "30d", "12h" or "90m", or a number of milliseconds',
  read: (value) => COUNT.read(value) ?? measured(value, /^(\d{1,9})\s*([smhdw])$/i, DURATION_MS),
};

const DAY_MS = 86_400_000;

/** Null: for ever. Less than a day is a typing error. */
export const KEEP: SettingKind = {
  wanted: '"forever", or a duration of at least a day such as "90d" or "52w"',
  read: (value) => {
    if (value === "forever") return null;
    const read = DURATION.read(value);
    return typeof read === "number" && read >= DAY_MS ? read : undefined;
  },
};

const SIZE_BYTES: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1024,
  mb: 1024 ** 2,
  gb: 1024 ** 3,
};

const SIZE: SettingKind = {
  wanted: 'a number of bytes, or a size such as "500mb" or "2gb"',
  read: (value) => COUNT.read(value) ?? measured(value, /^(\d{1,9})\s*(b|kb|mb|gb)$/i, SIZE_BYTES),
};

function measured(
  value: unknown,
  pattern: RegExp,
  units: Readonly<Record<string, number>>,
): number | undefined {
  const [, count, unit = ""] = typeof value === "string" ? (pattern.exec(value.trim()) ?? []) : [];
  const size = units[unit.toLowerCase()];
  return count === undefined || size === undefined ? undefined : Number(count) * size;
}

/**
 * Every setting of a gateway: key, type, default and effect.
 *
 * The parser, its errors, `backscroll config` and the table in docs/gateway.md are made from this
 * list.
 */
export interface Setting {
  /** `*` stands for a name that the user chooses. */
  readonly key: string;
  readonly kind: SettingKind;
  /** As written in a configuration file; null: not set. */
  readonly preset: JsonValue | (() => JsonValue);
  readonly help: string;
  /** An environment variable that overrides the file if it holds a number above 0. */
  readonly variable?: string;
  /** The default follows from other settings: it is shown and not set. */
  readonly implied?: true;
}

const MODE = choice(...RESET_MODES);

export const SETTINGS: readonly Setting[] = [
  {
    key: "session.dmScope",
    kind: choice(...DM_SCOPES),
    preset: DEFAULT_DM_SCOPE,
    help: "How direct messages are separated.",
  },
  {
    key: "session.mainKey",
    kind: TEXT,
    preset: "main",
    help: "The name of the conversation that direct messages share, under dmScope main.",
  },
  {
    key: "session.identityLinks.*",
    kind: TEXTS,
    preset: null,
    help: "The ids of one person, bare or as channel:id, under a chosen name.",
  },
  {
    key: "session.timeZone",
    kind: TIME_ZONE,
    preset: hostTimeZone,
    help: "The time zone of the daily reset.",
  },
  {
    key: "session.resetTriggers",
    kind: TEXTS,
    preset: DEFAULT_RESET_TRIGGERS,
    help: "Commands at the start of a message that begin a new session.",
  },
  ...resetSettings("session.reset", ["daily", 4], ""),
  ...["direct", "dm", "group", "thread"].flatMap((type) =>
    resetSettings(`session.resetByType.${type}`, undefined, ` For the type ${type}.`),
  ),
  ...resetSettings("session.resetByChannel.*", undefined, " For one channel; takes precedence."),
  {
    key: "session.idleMinutes",
    kind: NUMBER,
    preset: null,
    help: "The older name of session.reset.idleMinutes.",
  },
  {
    key: "session.parentForkMaxTokens",
    kind: COUNT,
    preset: 100_000,
    help: "A thread starts as a fork of its parent conversation of at most this many tokens; 0: always.",
  },
  {
    key: "session.maintenance.mode",
    kind: choice("off", "warn", "enforce"),
    preset: "off",
    help: "Whether old sessions are reported, or deleted.",
  },
  {
    key: "session.maintenance.pruneAfter",
    kind: DURATION,
    preset: "30d",
    help: "Delete sessions without a message for this long.",
  },
  {
    key: "session.maintenance.maxEntries",
    kind: COUNT,
    preset: 500,
    help: "The limit of sessions; the newest stay. 0: no limit.",
  },
  {
    key: "session.maintenance.maxDiskBytes",
    kind: SIZE,
    preset: null,
    help: "The limit of the tenant's content.",
  },
  {
    key: "session.maintenance.highWaterBytes",
    kind: SIZE,
    preset: null,
    help: "The size to shrink to above the budget. Default: 80 % of it.",
  },
  {
    key: "session.maintenance.ingested",
    kind: TEXTS,
    preset: [],
    help: "Agents, such as claude-code, whose ingested sessions may be deleted too.",
  },
  {
    key: "compaction.enabled",
    kind: FLAG,
    preset: true,
    help: "Whether sessions are compacted automatically.",
  },
  {
    key: "compaction.policy",
    kind: choice(...Object.keys(AUTO_POLICIES)),
    preset: DEFAULT_AUTO_POLICY,
    help: "Auto-compaction policy.",
  },
  {
    key: "compaction.reserveTokens",
    kind: COUNT,
    preset: COMPACTION.pi.reserveTokens,
    help: "The part of the window that the policy pi keeps free.",
  },
  {
    key: "compaction.keepRecentTokens",
    kind: COUNT,
    preset: COMPACTION.keepTokens,
    help: "The part that the policy pi keeps verbatim.",
  },
  {
    key: "compaction.inputTokens",
    kind: COUNT,
    preset: COMPACTION.claw.inputTokens,
    variable: CLAW_VARIABLE,
    help: "The threshold of the policy claw.",
  },
  {
    key: "compaction.summarizer",
    kind: choice(...SUMMARIZERS),
    preset: "mechanical",
    help: "The summarizer; if the model's summary is rejected, the mechanical one is used.",
  },
  {
    key: "agents.defaults.id",
    kind: TEXT,
    preset: "main",
    help: "The default agent.",
  },
  {
    key: "agents.defaults.model",
    kind: TEXT,
    preset: null,
    help: "The store's model that answers messages, such as default; if not set, the host passes one.",
  },
  {
    key: "agents.defaults.instructions",
    kind: TEXT,
    preset: null,
    help: "The system prompt of that model.",
  },
  {
    key: "agents.defaults.contextTokens",
    kind: COUNT,
    preset: null,
    help: `The window of a model that is not in the catalogue; ${formatCount(DEFAULT_CONTEXT_TOKENS)} if not set.`,
  },
  {
    key: "agents.defaults.compaction.reserveTokensFloor",
    kind: COUNT,
    preset: COMPACTION.pi.reserveTokensFloor,
    help: "The minimum of reserveTokens; 0: no minimum.",
  },
  {
    key: "agents.defaults.compaction.memoryFlush.enabled",
    kind: FLAG,
    preset: true,
    help: "Whether the agent may write notes before a compaction.",
  },
  {
    key: "agents.defaults.compaction.memoryFlush.softThresholdTokens",
    kind: COUNT,
    preset: COMPACTION.flushTokens,
    help: "The distance of the flush below the compaction's threshold.",
  },
  {
    key: "agents.defaults.compaction.memoryFlush.prompt",
    kind: TEXT,
    preset: null,
    help: "The prompt of the flush; a built-in one if not set.",
  },
  {
    key: "agents.defaults.compaction.memoryFlush.systemPrompt",
    kind: TEXT,
    preset: null,
    help: "Text added to the agent's instructions during the flush.",
  },
  {
    key: "embedder.url",
    kind: TEXT,
    preset: null,
    help: "A server with /v1/embeddings; BACKSCROLL_EMBED_URL takes precedence, BACKSCROLL_EMBED_KEY has its key.",
  },
  {
    key: "embedder.model",
    kind: TEXT,
    preset: null,
    help: "The model there, or local for one without a server; BACKSCROLL_EMBED_MODEL takes precedence.",
  },
  {
    key: "embedder.dimensions",
    kind: COUNT,
    preset: null,
    help: "The size of its vectors, for models that can shorten theirs.",
  },
  {
    key: "ignore.folders",
    kind: TEXTS,
    preset: [],
    help: "Folders, absolute or from ~/: conversations of agents that work in them or below are never ingested.",
  },
  {
    key: "ignore.repositories",
    kind: TEXTS,
    preset: [],
    help: "The same for repositories: the address of a remote, its end such as acme/shop, or the top folder.",
  },
  {
    key: "ignore.agents",
    kind: TEXTS,
    preset: [],
    help: "Agents, such as claude-code, whose conversations are never ingested.",
  },
  {
    key: "ignore.patterns",
    kind: TEXTS,
    preset: [],
    help: "Texts that the path of the agent's folder has, in any case; * stands for any characters.",
  },
  {
    key: "secrets.prefixes",
    kind: SECRET_PREFIXES,
    preset: [],
    help: "What your own secrets begin with, such as acme_live_: they are masked with what follows.",
  },
  {
    key: "keep",
    kind: KEEP,
    preset: "forever",
    help: "How long ingested sessions are kept after their last message, such as 90d.",
  },
  ...unaskedSettings(),
  {
    key: "silence",
    kind: choice("whole", "leading"),
    preset: "whole",
    help: "Whether NO_REPLY silences only a reply that equals it, or also one that begins with it.",
  },
];

function resetSettings(
  key: string,
  preset: readonly [string, number] | undefined,
  where: string,
): Setting[] {
  const [mode = null, atHour = null] = preset ?? [];
  return [
    {
      key: `${key}.mode`,
      kind: MODE,
      preset: mode,
      implied: true,
      help: `When a session is reset: daily, after idle time, or only on request.${where}`,
    },
    {
      key: `${key}.atHour`,
      kind: NUMBER,
      preset: atHour,
      implied: true,
      help: `The hour of the day, 0 to 23.${where}`,
    },
    {
      key: `${key}.idleMinutes`,
      kind: NUMBER,
      preset: null,
      help: `Idle minutes; 60 for the mode idle if not set.${where}`,
    },
  ];
}

function unaskedSettings(): Setting[] {
  const moments = [
    ["errors", "on", "a command failed that failed before"],
    ["starts", "on", "a session starts"],
    ["files", "log", "a file was read"],
    ["prompts", "log", "a prompt was answered before"],
  ] as const;
  return moments.map(([name, preset, when]) => ({
    key: `unasked.${name}`,
    kind: choice(...UNASKED_MODES),
    preset,
    help: `Whether memory speaks unasked when ${when}: log only notes down what it would say.`,
  }));
}

export function presetOf({ preset }: Setting): JsonValue {
  return typeof preset === "function" ? preset() : preset;
}

/** Lazy: the first use of a locale slows a short command down. */
function hostTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
