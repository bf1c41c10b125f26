/** An example body of a route, from its schema: required fields, and some illustrative ones. */

import { type Components, resolve, type Schema } from "./schema-words.ts";

/** Example values by field name. */
const BY_NAME: Readonly<Record<string, unknown>> = {
  agent: "coder",
  actor: "ana",
  by: "01JZ8T3G6KD0M3T5R9W2XKYBC4",
  channel: "telegram",
  chunk: "Because the lock ",
  content: "Why does the cron job run twice?",
  cost_usd: 0.5,
  entry_id: "01JZ8T3G6KD0M3T5R9W2XKYBC4",
  label: "start",
  lease: "01JZ8T3G6KD0M3T5R9W2XKYBC4",
  limit: 10,
  name: "deploy",
  object: "the lock",
  path: "/home/ana/session.jsonl",
  peer: "4711",
  predicate: "needs",
  query: "why does cron run twice",
  reason: "enough",
  role: "user",
  session_id: "01JZ8T3G6KD0M3T5R9W2XKYBC4",
  source: "claude-code",
  subject: "cron",
  tail_hash: "00ff",
  text: "Hello",
  title: "Cron runs twice",
  token_budget: 4_000,
  type: "note",
  workstation: "desk",
};

/** Optional fields that make an example clearer. */
const SHOWN: ReadonlySet<string> = new Set([
  "query",
  "title",
  "token_budget",
  "messages",
  "actor",
  "content",
  "chunks",
  "reason",
  "session_id",
  "channel",
  "peer",
]);

/** A placeholder for each part of a path. */
export function examplePath(path: string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) =>
    String(BY_NAME[name] ?? placeholder(name)),
  );
}

function placeholder(name: string): string {
  return name.endsWith("_id") ? "01JZ8T3G6KD0M3T5R9W2XKYBC4" : name;
}

export function exampleOf(given: Schema, components: Components, name = "", depth = 0): unknown {
  const schema = resolve(given, components);
  const forms = (schema["anyOf"] ?? schema["oneOf"]) as readonly Schema[] | undefined;
  if (forms !== undefined) return exampleOf(forms[0] ?? {}, components, name, depth);
  if ("const" in schema) return schema["const"];
  const values = schema["enum"] as readonly unknown[] | undefined;
  if (values !== undefined) return values.includes(BY_NAME[name]) ? BY_NAME[name] : values[0];
  const type = schema["type"];
  if (type === "object") return objectExample(schema, components, depth);
  if (type === "array") {
    return [exampleOf((schema["items"] ?? {}) as Schema, components, singular(name), depth + 1)];
  }
  if (type === "integer" || type === "number") {
    return typeof BY_NAME[name] === "number" ? BY_NAME[name] : (schema["minimum"] ?? 0);
  }
  if (type === "boolean") return true;
  if (type === "string") return stringExample(schema, name);
  return BY_NAME[name] ?? "…";
}

function objectExample(schema: Schema, components: Components, depth: number): unknown {
  const properties = (schema["properties"] ?? {}) as Readonly<Record<string, Schema>>;
  const required = (schema["required"] ?? []) as readonly string[];
  const shown = Object.entries(properties).filter(
    ([name]) => required.includes(name) || (depth < 3 && SHOWN.has(name)),
  );
  return Object.fromEntries(
    shown.map(([name, member]) => [name, exampleOf(member, components, name, depth + 1)]),
  );
}

function stringExample(schema: Schema, name: string): unknown {
  if (schema["format"] === "date-time") return "2026-05-04T14:03:22Z";
  if (schema["contentEncoding"] === "base64" || schema["format"] === "base64") return "AAAA";
  const known = BY_NAME[name];
  return typeof known === "string" ? known : placeholder(name === "" ? "text" : name);
}

function singular(name: string): string {
  return name.replace(/s$/, "");
}
