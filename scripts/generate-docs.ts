/**
 * Writes the generated parts of docs/: `npm run docs`.
 *
 * A document marks such a part with `<!-- generated: NAME -->` and `<!-- end -->`. The text between
 * is replaced; test/docs.test.ts fails if it is out of date.
 */

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toWireName } from "../src/api/wire.ts";
import type { Command } from "../src/cli/command.ts";
import { COMMAND_GROUPS } from "../src/cli/commands/index.ts";
import { GLOBAL_OPTIONS } from "../src/cli/context.ts";
import { EXIT, EXIT_CODES, EXIT_MEANINGS } from "../src/cli/exit.ts";
import { optionTerms, type Term, termLines, usage, wrap } from "../src/cli/help.ts";
import { type AutoPolicyName, CLAW_VARIABLE } from "../src/gateway/compaction/auto-policy.ts";
import { SETTINGS } from "../src/gateway/config/settings.ts";
import { TOOLS } from "../src/mcp/tools/index.ts";
import { COMPACTION } from "../src/model/compaction-numbers.ts";
import { formatCount } from "../src/model/display.ts";
import { ENTRY_KINDS } from "../src/model/entry.ts";
import { ERROR_CODES, isRetryable } from "../src/model/errors.ts";
import type { JsonValue } from "../src/model/json.ts";
import * as limits from "../src/model/limits.ts";
import {
  FIGURE_FIELDS,
  type Field,
  ORIGIN_FIELDS,
  SESSION_FIELDS,
} from "../src/model/session-fields.ts";
import { SESSION_FILTERS, type SessionFilterRow } from "../src/model/session-filters.ts";

const ROOT = join(import.meta.dirname, "..");

/** The parts by name. */
const PARTS: Readonly<Record<string, () => string>> = {
  "cli-commands": commandReference,
  "compaction-numbers": compactionTable,
  "compaction-policies": policyTable,
  "entry-kinds": entryKindTable,
  "error-codes": errorTable,
  "exit-codes": exitTable,
  "gateway-settings": settingsTable,
  limits: limitTable,
  "mcp-tools": toolTable,
  "session-fields": sessionFieldTable,
  "session-filters": filterTable,
};

/** Where the details of a command, or of commands with the same first word, are explained. */
const PAGES: Readonly<Record<string, string>> = {
  search: "search.md",
  recap: "search.md#traces",
  related: "models.md#search-by-meaning",
  trace: "search.md#traces",
  blame: "blame.md",
  pr: "blame.md",
  ingest: "ingest.md",
  watch: "ingest.md",
  stats: "ingest.md#tokens-and-cost",
  resume: "resume.md",
  incognito: "ingest.md#incognito-sessions",
  unasked: "unasked.md",
  setup: "mcp.md#setup",
  mcp: "mcp.md#the-server",
  hook: "mcp.md#hooks",
  hub: "mcp.md#one-process-for-all-agents",
  serve: "server.md",
  share: "server.md#shares",
  context: "context.md",
  compact: "compaction.md",
  summarize: "compaction.md#summarizers",
  facts: "facts.md",
  rules: "context.md#rules-that-stand",
  config: "gateway.md#configuration",
  token: "server.md#access-tokens",
  doctor: "audit.md#hashes",
  trust: "trust.md",
  embed: "models.md#search-by-meaning",
  sweep: "store.md#time-to-live-quotas-sweeping",
  maintain: "gateway.md#maintenance",
  backup: "store.md#backup-and-restore",
  restore: "store.md#backup-and-restore",
  "tenant delete": "fleet.md#deleting-a-tenant",
  forget: "retention.md#sessions",
  changes: "audit.md",
  open: "page.md",
  branch: "transcript.md#branches",
  edit: "transcript.md#edits",
  label: "transcript.md#labels-pins-marks-and-state",
  mark: "search.md#what-still-holds",
  pin: "transcript.md#labels-pins-marks-and-state",
  fork: "transcript.md#forks",
  delete: "audit.md#deletion",
  recall: "context.md#recall",
  summaries: "compaction.md#summarizers",
  routes: "gateway.md#routes",
  title: "ingest.md#titles",
  export: "formats.md#what-is-written",
  memory: "library.md#memories-and-facts",
  schema: "schema.md",
};

if (import.meta.main) {
  for (const [file, text] of generateDocs()) writeFileSync(file, text);
}

/** The current text of every document with a generated part. */
export function generateDocs(): Map<string, string> {
  const documents = new Map<string, string>();
  for (const name of globSync("*.md", { cwd: join(ROOT, "docs") }).sort()) {
    const file = join(ROOT, "docs", name);
    const text = readFileSync(file, "utf8");
    if (text.includes("<!-- generated:")) documents.set(file, fill(text, name));
  }
  return documents;
}

function fill(text: string, document: string): string {
  return text.replace(/<!-- generated: (\S+) -->\n.*?<!-- end -->/gs, (_whole, name: string) => {
    const part = PARTS[name];
    if (part === undefined) throw new Error(`docs/${document}: unknown generated part "${name}"`);
    return `<!-- generated: ${name} -->\n\n${part().trim()}\n\n<!-- end -->`;
  });
}

/** What several commands take, once; then each command with what it alone takes. */
function commandReference(): string {
  const uses = new Map<string, number>();
  for (const command of COMMAND_GROUPS.flatMap(({ commands }) => commands)) {
    for (const [name, help] of termsOf(command)) {
      uses.set(`${name}\n${help}`, (uses.get(`${name}\n${help}`) ?? 0) + 1);
    }
  }
  // Of each name the help that most commands have, if at least two have it.
  const common = new Map<string, string>();
  for (const [term, times] of [...uses].sort(([, a], [, b]) => b - a)) {
    const [name = "", help = ""] = term.split("\n");
    if (times > 1 && !common.has(name)) common.set(name, help);
  }
  const isShared = ([name, help]: Term) => common.get(name) === help;
  const shared = [...common].sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    "## Options of every command",
    terms(optionTerms(GLOBAL_OPTIONS)),
    "## Arguments and options of several commands",
    terms(shared),
    ...COMMAND_GROUPS.flatMap(({ title, commands }) => [
      `## ${title}`,
      ...commands.map((command) => describeCommand(command, isShared)),
    ]),
  ].join("\n\n");
}

function describeCommand(command: Command, isShared: (term: Term) => boolean): string {
  const { name, summary, details, aliases, options } = command;
  const page = PAGES[name] ?? PAGES[name.split(" ")[0] ?? ""];
  const more = page === undefined ? details : `([${page.replace(/#.*/, "")}](${page}))`;
  const also = aliases.length === 0 ? "" : `Also called \`${aliases.join("`, `")}\`.`;
  const others = Object.entries(options).flatMap(([option, spec]) =>
    optionTerms({ [option]: spec }).some(isShared) ? [`--${option}`] : [],
  );
  const own = termsOf(command).filter((term) => !isShared(term));
  const call = usage(command).replace("backscroll ", "").replace(" [OPTIONS]", "");
  const words = [call, ...others.map((one) => `[${one}]`)].join(" ");
  const lines = [...wrap(words, "  "), ...termLines(own)].join("\n").trimStart();
  const text = [summary, more, also].filter((part) => part !== "").join(" ");
  const shown = lines === name ? [] : [fenced("text", lines)];
  return [`### ${name}`, text, ...shown].join("\n\n");
}

function termsOf({ arguments: args, options }: Command): Term[] {
  return [...args.map(({ name, help }): Term => [name, help]), ...optionTerms(options)];
}

function terms(list: readonly Term[]): string {
  return fenced("text", termLines(list).join("\n"));
}

function toolTable(): string {
  const rows = TOOLS.map((tool) => {
    const { inputSchema } = tool.list();
    const { properties = {}, required = [] } = inputSchema;
    const inputs = Object.keys(properties).map(
      (name) => `\`${name}${(required as string[]).includes(name) ? "" : "?"}\``,
    );
    return [`\`${tool.name}\``, tool.scope, inputs.join(" ")];
  });
  return table(["tool", "scope", "takes"], rows);
}

function entryKindTable(): string {
  const mark = (rule: boolean) => (rule ? "yes" : "–");
  return table(
    [
      "kind",
      "enters the context",
      "indexed",
      "shown",
      "counted",
      "moves the leaf",
      "can be erased",
    ],
    Object.entries(ENTRY_KINDS).map(([kind, rules]) => [
      `\`${kind}\``,
      mark(rules.entersContext),
      mark(rules.indexed),
      mark(rules.shown),
      mark(rules.counted),
      mark(rules.movesLeaf),
      mark(rules.erasable),
    ]),
  );
}

function compactionTable(): string {
  const { keepTokens, turns, pi, claw, minGainTokens, cooldownMessages, flushTokens } = COMPACTION;
  const rows: readonly (readonly [string, number, string])[] = [
    ["`keep`", keepTokens, "tokens of the newest messages that stay if nothing else is said"],
    ["`triggerTurns`", turns.triggerTurns, "messages without a summary, policy `turns`"],
    ["`triggerTokens`", turns.triggerTokens, "tokens without a summary, policy `turns`"],
    ["`reserveTokens`", pi.reserveTokens, "tokens of the window that stay free, policy `pi`"],
    ["`reserveTokensFloor`", pi.reserveTokensFloor, "the least reserve, policy `pi`"],
    ["`keepRecentTokens`", keepTokens, "tokens of the newest messages that policy `pi` keeps"],
    ["`inputTokens`", claw.inputTokens, "tokens of context at which policy `claw` compacts"],
    ["`messages`", claw.messages, "newest messages that preset and policy `claw` keep"],
    ["`tokens`", claw.tokens, "the least that all messages take, preset `claw`"],
    ["`minGainTokens`", minGainTokens, "the least gain, policies `pi` and `claw`"],
    ["`cooldownMessages`", cooldownMessages, "messages between two attempts of any policy"],
    ["`softThresholdTokens`", flushTokens, "how far below the threshold memories are flushed"],
  ];
  return table(
    ["option", "default", "what it is"],
    rows.map(([name, count, meaning]) => [name, formatCount(count), meaning]),
  );
}

function policyTable(): string {
  const { keepTokens, turns, pi, claw } = COMPACTION;
  const [reserve, floor] = [formatCount(pi.reserveTokens), formatCount(pi.reserveTokensFloor)];
  const rows: Readonly<Record<AutoPolicyName, readonly [string, string]>> = {
    turns: [
      `above ${turns.triggerTurns} messages, or ${formatCount(turns.triggerTokens)} tokens, that no summary covers`,
      "the newer half",
    ],
    pi: [
      `when the context takes more than the window less a reserve (${reserve}, lifted to ${floor})`,
      `${formatCount(keepTokens)} tokens, in small windows fewer`,
    ],
    claw: [
      `from ${formatCount(claw.inputTokens)} tokens on, or what \`${CLAW_VARIABLE}\` says`,
      `the last ${claw.messages} messages, whatever they take`,
    ],
    none: ["never", ""],
  };
  return table(
    ["policy", "compacts", "keeps"],
    Object.entries(rows).map(([name, [when, kept]]) => [`\`${name}Policy()\``, when, kept]),
  );
}

/** A session's fields, then those of its origin and its figures, each with its comment. */
function sessionFieldTable(): string {
  const comments = commentsOf("src/model/session-fields.ts", /(\w+): \{/);
  const tables: readonly (readonly [string, Readonly<Record<string, Partial<Field>>>])[] = [
    ["", SESSION_FIELDS],
    ["origin.", ORIGIN_FIELDS],
    ["figures.", FIGURE_FIELDS],
  ];
  const rows = tables.flatMap(([prefix, fields]) =>
    Object.entries(fields).map(([name, field]) => {
      const isUnsure = prefix === "origin." || field.nullable || field.optional;
      const type = `${field.kind ?? "text"}${isUnsure ? "?" : ""}`;
      const isOther = field.wire !== undefined && field.wire !== toWireName(name);
      const notes = [
        comments.get(name) ?? "",
        isOther ? `On the wire \`${field.wire}\`.` : "",
        field.set ? "Callers set it." : "",
      ];
      return [
        `\`${prefix}${name}\``,
        field.kind === "origin" || field.kind === "figures" ? "" : type,
        notes.filter((note) => note !== "").join(" "),
      ];
    }),
  );
  return table(["field", "kind", "what it is"], rows);
}

/** Each filter with its comment, or else its help. */
function filterTable(): string {
  const comments = commentsOf("src/model/session-filters.ts", /(\w+): \{/);
  const rows = Object.entries<SessionFilterRow>(SESSION_FILTERS).map(
    ([name, { of, kind = "text", word, help }]) => [
      `\`${name}\``,
      kind,
      of.filter((call) => call === "list" || call === "search").join(", "),
      word === undefined ? "" : `\`${word}:\``,
      comments.get(name) ?? help ?? missing(name),
    ],
  );
  return table(["filter", "kind", "of", "in a query", "which sessions"], rows);
}

/** A code and the comment above it in the sources. */
function errorTable(): string {
  const comments = commentsOf("src/model/errors.ts", /"(\w+)",/);
  return table(
    ["code", "meaning", "exit code"],
    ERROR_CODES.map((code) => [
      // What `error.documentation` links to.
      `<a id="${code}"></a>\`${code}\``,
      `${comments.get(code) ?? missing(code)}${isRetryable(code) ? " _Again._" : ""}`,
      String(EXIT_CODES[code]),
    ]),
  );
}

function exitTable(): string {
  return table(
    ["exit code", "meaning"],
    Object.entries(EXIT).map(([name, code]) => [
      String(code),
      EXIT_MEANINGS[name as keyof typeof EXIT],
    ]),
  );
}

function settingsTable(): string {
  // Those by type and channel have the fields of `session.reset`; others have pages of their own.
  const settings = SETTINGS.filter(
    ({ key }) => !/^(session\.resetBy|embedder|ignore|secrets|keep|unasked)/.test(key),
  );
  const rows = settings.map(({ key, preset, help }) => [
    `\`${key}\``,
    // Machine-dependent values are left out.
    typeof preset === "function" ? "this machine's" : preset === null ? "–" : formatPreset(preset),
    help,
  ]);
  return table(["setting", "default", "what it does"], rows);
}

function formatPreset(preset: JsonValue): string {
  return typeof preset === "string" ? preset : JSON.stringify(preset);
}

function limitTable(): string {
  const comments = commentsOf("src/model/limits.ts", /export const (\w+)/);
  const all = Object.entries(inSourceOrder(limits, "src/model/limits.ts"));
  // Those of doors are with them: docs/mcp.md and docs/server.md.
  const own = all.filter(
    ([name]) => !/_MCP_|FOLLOWERS|SHARE_DAYS|^MAX_(APPEND_)?REQUEST/.test(name),
  );
  const rows = own.map(([name, value]) => [
    `\`${name}\``,
    formatLimit(name, value),
    comments.get(name) ?? "",
  ]);
  return table(["name", "limit", "of what"], rows);
}

function formatLimit(name: string, value: number): string {
  if (name.endsWith("_MS"))
    return value < 86_400_000 ? `${value} ms` : `${value / 86_400_000} days`;
  if (!name.endsWith("_BYTES")) return formatCount(value);
  if (value >= 1024 * 1024) return `${value / 1024 / 1024} MiB`;
  return value >= 1024 ? `${value / 1024} KiB` : `${value} bytes`;
}

/** The doc comment above each matching line, by the first capture. */
function commentsOf(path: string, pattern: RegExp): Map<string, string> {
  const comments = new Map<string, string>();
  const source = readFileSync(join(ROOT, path), "utf8");
  const documented = new RegExp(`/\\*\\* (.*?) \\*/\\n\\s*${pattern.source}`, "g");
  for (const [, comment = "", name = ""] of source.matchAll(documented)) {
    comments.set(name, comment);
  }
  return comments;
}

/** In source order; a module's exports are sorted by name. */
function inSourceOrder(module: object, path: string): Record<string, number> {
  const source = readFileSync(join(ROOT, path), "utf8");
  const names = [...source.matchAll(/export const (\w+)/g)].map(([, name = ""]) => name);
  const values = module as Record<string, number>;
  return Object.fromEntries(names.map((name) => [name, values[name] ?? missing(name)]));
}

function missing(name: string): never {
  throw new Error(`${name} has no comment, or no value, to document it with`);
}

/** With aligned columns, as Biome formats it. */
function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((_, i) =>
    Math.max(3, ...[header, ...rows].map((row) => row[i]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |`;
  return [line(header), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join(
    "\n",
  );
}

function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}
