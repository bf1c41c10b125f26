/**
 * The export of Claude.ai: `conversations.json`, an array of conversations.
 *
 * An answer contains its tools' results. It is split at them into assistant messages and results.
 */

import type { Block } from "../../model/block.ts";
import { isPlainObject } from "../../model/json.ts";
import { toContentBlocks } from "../anthropic-content.ts";
import { readElements } from "../document/list-scanner.ts";
import {
  type EntryDraft,
  KnownIds,
  toImportedEntry,
  toImportedSession,
  toTranscript,
} from "../drafts.ts";
import { type Fields, otherFields, textField, timeField } from "../fields.ts";
import { textOfHead } from "../head.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry, TranscriptSource } from "../source.ts";

const FORMAT = "claude-ai";

/** The start of a conversation: after a damaged one, it locates the next. */
const BEGINS = /\{\s*"uuid"\s*:\s*"[^"]*"\s*,\s*"name"\s*:/;

export const CLAUDE_AI: TranscriptSource = {
  name: FORMAT,

  recognise(head) {
    const text = textOfHead(head);
    return (
      /^\s*(?:\[\s*)?\{/.test(text) &&
      /"chat_messages"\s*:\s*\[/.test(text) &&
      /"uuid"\s*:/.test(text)
    );
  },

  isText: () => true,

  read: (input) =>
    toTranscript(async function* (problems) {
      for await (const conversation of readElements(input, BEGINS, problems)) {
        const id = textField(conversation, "uuid");
        const messages = conversation["chat_messages"];
        if (id === undefined || !Array.isArray(messages)) {
          problems.add("unexpected", "a conversation without an id, or messages, was left out");
          continue;
        }
        const known = ["uuid", "name", "created_at", "chat_messages"];
        yield {
          ...toImportedSession(FORMAT, {
            id,
            title: textField(conversation, "name") || null,
            startedAt: timeField(conversation, "created_at"),
            fields: otherFields(conversation, known),
          }),
          entries: readMessages(messages, problems),
          problems,
        };
      }
    }),
};

async function* readMessages(
  messages: readonly unknown[],
  problems: ProblemLog,
): AsyncGenerator<ImportedEntry> {
  const ids = new KnownIds(problems);
  /** The last entry of each message. */
  const tips = new Map<string, string | null>();
  let last: string | null = null;
  for (const [i, message] of messages.entries()) {
    const role = isPlainObject(message) ? ROLES.get(message["sender"]) : undefined;
    if (!isPlainObject(message) || role === undefined) {
      const sender = isPlainObject(message) ? JSON.stringify(message["sender"]) : "nobody";
      problems.add("unexpected", `a message of ${sender} was left out`);
      continue;
    }
    const id = textField(message, "uuid") ?? `message-${i}`;
    if (!ids.isNew(id, message)) continue;
    const named = textField(message, "parent_message_uuid");
    // The root has an id of no message.
    let parent: string | null = named === undefined ? last : (tips.get(named) ?? null);
    for (const draft of toDrafts(message, id, role)) {
      yield toImportedEntry(FORMAT, { ...draft, parentSourceId: parent });
      parent = draft.sourceId;
    }
    tips.set(id, parent);
    last = parent;
  }
}

const ROLES: ReadonlyMap<unknown, "user" | "assistant"> = new Map([
  ["human", "user"],
  ["assistant", "assistant"],
]);

function toDrafts(message: Fields, id: string, role: "user" | "assistant"): EntryDraft[] {
  const content = toContentBlocks(message["content"], FORMAT) ?? [];
  const hasText = content.some((block) => block.type === "text" && block.text !== "");
  const text = textField(message, "text") ?? "";
  const plain: Block[] = hasText || text === "" ? [] : [{ type: "text", text }];
  const known = ["uuid", "sender", "content", "created_at", "text", "attachments"];
  const createdAt = timeField(message, "created_at");
  const fields = otherFields(message, known);
  const blocks = numbered([...content, ...plain, ...toAttachments(message["attachments"])], id);
  return cutAtResults(blocks).map((part, i): EntryDraft => {
    const isResult = part[0]?.type === "tool_result";
    const by = isResult ? "tool" : role;
    const name = part[0]?.type === "tool_result" ? (part[0].toolName ?? null) : null;
    return {
      sourceId: i === 0 ? id : `${id}/${i}`,
      id,
      kind: "message",
      role: by,
      blocks: part,
      actor: by === "assistant" ? FORMAT : name,
      createdAt,
      ...(i === 0 ? { fields } : {}),
    };
  });
}

/** A call without an id gets one, and so does the result after it. */
function numbered(blocks: readonly Block[], id: string): Block[] {
  let last = { id: `${id}/unknown`, name: undefined as string | undefined };
  return blocks.map((block, i) => {
    if (block.type === "tool_use") {
      last = { id: block.id === "" ? `${id}/call-${i}` : block.id, name: block.name };
      return { ...block, id: last.id };
    }
    if (block.type !== "tool_result") return block;
    const toolUseId = block.toolUseId === "" ? last.id : block.toolUseId;
    return { ...block, toolUseId, ...(last.name === undefined ? {} : { toolName: last.name }) };
  });
}

/** Runs of results and of other blocks; a message without content is one empty run. */
function cutAtResults(blocks: readonly Block[]): Block[][] {
  const parts: Block[][] = [];
  for (const block of blocks) {
    const last = parts.at(-1);
    const isSame = (last?.[0]?.type === "tool_result") === (block.type === "tool_result");
    if (last !== undefined && isSame) last.push(block);
    else parts.push([block]);
  }
  return parts.length === 0 ? [[]] : parts;
}

/** Files with extracted text. */
function toAttachments(attachments: unknown): Block[] {
  return (Array.isArray(attachments) ? attachments : []).flatMap((attachment): Block[] => {
    const fields: Fields = isPlainObject(attachment) ? attachment : {};
    const text = textField(fields, "extracted_content") ?? "";
    const rest = otherFields(fields, ["extracted_content"]);
    return text === "" ? [] : [{ type: "text", text, attachment: rest } as Block];
  });
}
