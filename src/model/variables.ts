/** The environment variables of Backscroll. A value that is not understood is refused by its name. */

import { BackscrollError } from "./errors.ts";
import { isTenantName } from "./ids.ts";
import { LANGUAGES, TELEMETRIES, TOOL_INDEXINGS } from "./inputs/choices.ts";

export type VariableName =
  | ("BACKSCROLL" | "BACKSCROLL_HUB" | "BACKSCROLL_UNATTENDED")
  | ("BACKSCROLL_DB" | "BACKSCROLL_TENANT" | "BACKSCROLL_TOKEN" | "BACKSCROLL_CONFIG")
  | ("BACKSCROLL_PRICES" | "BACKSCROLL_ORIGINALS" | "BACKSCROLL_TELEMETRY")
  | "BACKSCROLL_SECRETS"
  | ("BACKSCROLL_INDEX_LANGUAGE" | "BACKSCROLL_INDEX_TOOLS" | "BACKSCROLL_INDEX_CACHE_MB")
  | ("BACKSCROLL_SEARCH_DEADLINE_MS" | "BACKSCROLL_EMBED_DEADLINE_MS")
  | "BACKSCROLL_HOOK_DEADLINE_MS"
  | ("BACKSCROLL_MODEL" | "BACKSCROLL_MODEL_URL" | "BACKSCROLL_MODEL_KEY")
  | ("BACKSCROLL_EMBED_MODEL" | "BACKSCROLL_EMBED_URL" | "BACKSCROLL_EMBED_KEY")
  | "BACKSCROLL_EMBED_DIMENSIONS"
  | ("BACKSCROLL_NOTIFY" | "BACKSCROLL_REPLICAS");

interface Rule {
  /** Completes "must be …". */
  readonly words: string;
  readonly fits: (text: string) => boolean;
  /** The value may hold a secret: errors omit it. */
  readonly hidden?: true;
}

export type Variables = Readonly<Record<string, string | undefined>>;

const OFF = ["0", "off", "false", "no"];
const ON = ["1", "on", "true", "yes"];

const SWITCH: Rule = {
  words: "on or off (also 1, true, yes; 0, false, no)",
  fits: (text) => [...ON, ...OFF].includes(text.toLowerCase()),
};
const isLine = (text: string) => text.trim() !== "" && !/[\0\r\n]/.test(text);
const oneOf = (...values: readonly string[]): Rule => ({
  words: `one of ${values.join(", ")}`,
  fits: (text) => values.includes(text),
});
const FILE: Rule = { words: "the path of a file", fits: isLine };
const NAME: Rule = { words: "a name", fits: isLine };
const VISIBLE: Rule = {
  words: "visible ASCII characters; is a line break left in it?",
  fits: (text) => /^[\x21-\x7e]+$/.test(text),
  hidden: true,
};
const MS: Rule = {
  words: "a whole number of milliseconds",
  fits: (text) => /^[1-9]\d{0,8}$/.test(text),
};
const URL_OF_MODEL: Rule = {
  words: "an address that begins with http:// or https://",
  fits: (text) => /^https?:\/\//i.test(text) && URL.canParse(text),
  hidden: true,
};

/** What a secret of the user's own may begin with. */
export const SECRET_PREFIX: RegExp = /^[\w.:/-]{3,64}$/;
export const SECRET_PREFIX_WORDS = "3 to 64 letters, digits or . _ : / -";

export const VARIABLES: Readonly<Record<VariableName, Rule>> = {
  BACKSCROLL: SWITCH,
  BACKSCROLL_HUB: SWITCH,
  BACKSCROLL_UNATTENDED: SWITCH,
  BACKSCROLL_DB: {
    words: "a path, :memory:, postgres://… or a server's http://…",
    fits: (text) =>
      isLine(text) && !/^(?!postgres(?:ql)?:|https?:)[a-z][a-z0-9+.-]+:\/\//i.test(text),
    hidden: true,
  },
  BACKSCROLL_TENANT: {
    words: "1 to 128 letters, digits, dots, dashes or underscores, starting with a letter or digit",
    fits: isTenantName,
  },
  BACKSCROLL_TOKEN: {
    ...VISIBLE,
    words: `1 to 512 ${VISIBLE.words}`,
    fits: (text) => text.length <= 512 && VISIBLE.fits(text),
  },
  BACKSCROLL_CONFIG: FILE,
  BACKSCROLL_PRICES: FILE,
  BACKSCROLL_ORIGINALS: SWITCH,
  BACKSCROLL_SECRETS: {
    words: `beginnings of keys, ${SECRET_PREFIX_WORDS} each, separated by commas`,
    fits: (text) => text.split(",").every((each) => SECRET_PREFIX.test(each)),
  },
  BACKSCROLL_TELEMETRY: oneOf(...TELEMETRIES),
  BACKSCROLL_INDEX_LANGUAGE: oneOf(...LANGUAGES),
  BACKSCROLL_INDEX_TOOLS: oneOf(...TOOL_INDEXINGS),
  BACKSCROLL_INDEX_CACHE_MB: {
    words: "a whole number of megabytes",
    fits: (text) => /^[1-9]\d{0,5}$/.test(text),
  },
  BACKSCROLL_SEARCH_DEADLINE_MS: MS,
  BACKSCROLL_EMBED_DEADLINE_MS: MS,
  BACKSCROLL_HOOK_DEADLINE_MS: { ...MS, fits: (text) => /^\d{1,9}$/.test(text) },
  BACKSCROLL_MODEL: NAME,
  BACKSCROLL_MODEL_URL: URL_OF_MODEL,
  BACKSCROLL_MODEL_KEY: VISIBLE,
  BACKSCROLL_EMBED_MODEL: NAME,
  BACKSCROLL_EMBED_URL: URL_OF_MODEL,
  BACKSCROLL_EMBED_KEY: VISIBLE,
  BACKSCROLL_EMBED_DIMENSIONS: {
    words: "a whole number of at least 1",
    fits: (text) => /^[1-9]\d{0,4}$/.test(text),
  },
  BACKSCROLL_NOTIFY: {
    words: "listen, poll or postgres://…",
    fits: (text) => /^(?:listen|poll|postgres(?:ql)?:\/\/.+)$/i.test(text),
    hidden: true,
  },
  BACKSCROLL_REPLICAS: {
    words: "addresses such as postgres://host/database",
    fits: (text) => text.trim() === "" || /^\s*postgres(?:ql)?:\/\//i.test(text),
    hidden: true,
  },
};

/** Undefined if it is not set, or empty. Throws `invalid_input` naming the variable. */
export function readVariable(name: VariableName, variables: Variables): string | undefined {
  const given = variables[name] ?? "";
  if (given === "") return undefined;
  const { words, fits, hidden } = VARIABLES[name];
  if (fits(given)) return given;
  const shown = hidden === true ? "" : `, not ${JSON.stringify(given.slice(0, 80))}`;
  throw new BackscrollError("invalid_input", `${name} must be ${words}${shown}`, {
    details: { field: name },
  });
}

/** A switch, on if it is not set. */
export function isSwitchedOff(
  name: "BACKSCROLL" | "BACKSCROLL_ORIGINALS",
  variables: Variables,
): boolean {
  return OFF.includes((readVariable(name, variables) ?? "").toLowerCase());
}

export function isSwitchedOn(name: "BACKSCROLL_UNATTENDED", variables: Variables): boolean {
  return ON.includes((readVariable(name, variables) ?? "").toLowerCase());
}
