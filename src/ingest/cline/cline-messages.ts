/** Messages of a task. They have no ids: their number and content identify them. */

import type { Block } from "../../model/block.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { sha256, toHex } from "../../transcript/hash.ts";
import { toContentBlocks, toMessageDrafts } from "../anthropic-content.ts";
import { type EntryDraft, KnownIds, toImportedEntry } from "../drafts.ts";
import { type Fields, objectField, otherFields, textField, timeField } from "../fields.ts";
import { KEPT_CALLS } from "../kept-counts.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry } from "../source.ts";
import { replaceTagged } from "../tagged-text.ts";
import type { ModelCall } from "./cline-usage.ts";

/** `calls` has the usage of each answer in order. Undefined messages were reported before. */
export async function* readMessages(
  messages: AsyncIterable<unknown>,
  calls: readonly ModelCall[],
  format: string,
  problems: ProblemLog,
): AsyncGenerator<ImportedEntry> {
  const names = new RecentMap<string, string>(KEPT_CALLS);
  const ids = new KnownIds(problems);
  let parent: string | null = null;
  let answers = 0;
  let number = -1;
  for await (const message of messages) {
    number++;
    if (message === undefined) {
      // Roles alternate, starting with the user: later calls keep their answers.
      if (number % 2 === 1) answers++;
      continue;
    }
    const role = isPlainObject(message) ? message["role"] : undefined;
    const content = isPlainObject(message)
      ? toContentBlocks(message["content"], format)
      : undefined;
    if (!isPlainObject(message) || content === undefined || !isRole(role)) {
      problems.add(
        "unexpected",
        `message ${number + 1} has no known role, or no content, and was left out`,
      );
      continue;
    }
    const call = role === "assistant" ? calls[answers++] : undefined;
    for (const draft of toDrafts(message, content, idOf(message, number), format, names)) {
      if (!ids.isNew(draft.sourceId, draft)) continue;
      const createdAt = timeField(message, "ts") ?? call?.at ?? null;
      const usage = call?.usage ?? null;
      const model = draft.model ?? call?.model ?? null;
      const cost = call?.cost === undefined ? {} : { cost: call.cost };
      const entry: EntryDraft = {
        ...draft,
        ...cost,
        createdAt,
        usage,
        model,
        parentSourceId: parent,
      };
      yield toImportedEntry(format, entry);
      parent = draft.sourceId;
    }
  }
}

function isRole(role: unknown): role is "user" | "assistant" {
  return role === "user" || role === "assistant";
}

/** A task reset to an earlier point has other messages under the same numbers. */
function idOf(message: Fields, number: number): string {
  const own = textField(message, "id");
  const time = timeField(message, "ts");
  const hash = toHex(sha256(Buffer.from(JSON.stringify(message["content"])))).slice(0, 8);
  return own ?? `message-${time ?? number}-${hash}`;
}

function toDrafts(
  message: Fields,
  content: readonly Block[],
  sourceId: string,
  format: string,
  names: RecentMap<string, string>,
): EntryDraft[] {
  const known = ["role", "content", "id", "ts", "reasoning", "modelInfo"];
  const fields = otherFields(message, known);
  const model = objectField(message, "modelInfo");
  const base = { sourceId, id: null, model: textField(model, "modelId") ?? null } as const;
  if (message["isSummary"] === true) {
    const data = { firstKeptEntryId: null, tokensBefore: null };
    const blocks = content.filter(({ type }) => type === "text");
    return [{ ...base, kind: "compaction", blocks, data, fields }];
  }
  if (message["role"] === "assistant") {
    const text = textField(message, "reasoning") ?? "";
    const thought: Block[] = text === "" ? [] : [{ type: "thinking", text }];
    const said = { ...base, kind: "message", role: "assistant", actor: format } as const;
    return toMessageDrafts({ ...said, blocks: [...thought, ...content], fields }, names);
  }
  const { blocks, context, tool } = unwrap(content);
  const all: JsonObject = context === "" ? fields : { ...fields, context };
  if (tool !== undefined) {
    return [{ ...base, kind: "message", role: "tool", actor: tool, blocks, fields: all }];
  }
  return toMessageDrafts({ ...base, kind: "message", role: "user", blocks, fields: all }, names);
}

/**
 * The user's text is in tags, followed by the editor's state. Textual tool calls have textual
 * results, which are not the user's either.
 */
function unwrap(content: readonly Block[]): {
  readonly blocks: Block[];
  readonly context: string;
  readonly tool: string | undefined;
} {
  const context: string[] = [];
  const blocks: Block[] = [];
  let tool: string | undefined;
  for (const block of content) {
    if (block.type !== "text") {
      blocks.push(block);
      continue;
    }
    const bare = replaceTagged(block.text, ["environment_details"], (_, whole) => {
      context.push(whole);
      return "";
    });
    const text = replaceTagged(bare, TAGS, (inner) => inner.trim()).trim();
    if (text !== "") blocks.push({ ...block, text });
    tool ??= /^\[(\w+)\b[^\]\n]*\] Result:/.exec(text)?.[1];
  }
  return { blocks, context: context.join("\n"), tool };
}

const TAGS: readonly string[] = ["task", "feedback", "user_message", "answer"];
