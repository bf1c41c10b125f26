/**
 * Masks secrets in output for people and programs. The log keeps the original, and the library
 * gives it to its host: surfaces mask before they print or convert.
 *
 * Provider data (signatures, ids, images) is unchanged.
 */

import { type Block, inputTextOf } from "../model/block.ts";
import type { Entry } from "../model/entry.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../model/json.ts";
import type { Fact, Memory } from "../model/note.ts";
import type { Origin, Session } from "../model/session.ts";
import { readableBlock, withInputText } from "../model/tool-input.ts";
import { REDACTED, redact, redactNamed } from "../secrets/redact.ts";

export { LONGEST_SECRET } from "../secrets/redact.ts";

export function maskEntry(entry: Entry): Entry {
  const { blocks, data, raw, metadata } = entry;
  return {
    ...entry,
    blocks: blocks.map(maskBlock),
    data: maskJson(data),
    raw: maskJson(raw),
    metadata: maskObject(metadata),
  };
}

export function maskSession(session: Session): Session {
  const { title, summary, metadata, origin } = session;
  return {
    ...session,
    title: maskText(title),
    summary: summary === null ? null : maskText(summary),
    origin: maskOrigin(origin),
    metadata: maskObject(metadata),
  };
}

/** Names of folders, branches and files may contain secrets, too. */
function maskOrigin(origin: Origin): Origin {
  return Object.fromEntries(
    Object.entries(origin).map(([name, text]) => [
      name,
      typeof text === "string" ? maskText(text) : text,
    ]),
  ) as Origin;
}

export function maskMemory(memory: Memory): Memory {
  const { name, content, metadata } = memory;
  return {
    ...memory,
    name: maskText(name),
    content: maskText(content),
    metadata: maskObject(metadata),
  };
}

export function maskFact(fact: Fact): Fact {
  const { subject, predicate, object } = fact;
  // `subject` and `predicate` may show that `object` is a secret.
  const named = [predicate, subject].some((name) => redactNamed(name, object) === REDACTED);
  return {
    ...fact,
    subject: maskText(subject),
    predicate: maskText(predicate),
    object: named ? REDACTED : maskText(object),
  };
}

export function maskText(text: string): string {
  return redact(text).text;
}

export function maskBlock(block: Block): Block {
  switch (block.type) {
    case "text":
    case "thinking":
      return { ...block, text: maskText(block.text) };
    case "tool_use":
      return readableBlock(
        withInputText({ ...block, name: maskText(block.name) }, maskText(inputTextOf(block))),
      );
    case "tool_result": {
      const { output, toolName } = block;
      return {
        ...block,
        ...(toolName === undefined ? {} : { toolName: maskText(toolName) }),
        output: typeof output === "string" ? maskText(output) : output.map(maskBlock),
      };
    }
    case "image":
      return block.url === undefined ? block : { ...block, url: maskText(block.url) };
    case "opaque":
      return { ...block, json: maskText(block.json) };
  }
}

function maskObject(object: JsonObject): JsonObject {
  return maskJson(object) as JsonObject;
}

/** The values in `json`, each with its name: `{"password": "…"}`. */
export function maskJson(json: JsonValue, name = ""): JsonValue {
  if (typeof json === "string") return redactNamed(name, json);
  if (Array.isArray(json)) return json.map((item) => maskJson(item, name));
  if (!isPlainObject(json)) return json;
  const fields = Object.entries(json).map(([key, value]) => [key, maskJson(value, key)] as const);
  return Object.fromEntries(fields);
}
