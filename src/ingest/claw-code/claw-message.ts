/** Maps messages of claw-code, in both formats. */

import type { Block } from "../../model/block.ts";
import { ROLES, type Role, type Usage } from "../../model/entry.ts";
import { isPlainObject } from "../../model/json.ts";
import { toSourceMetadata } from "../../transcript/source-fields.ts";
import { resultBlock, toCallBlock, toTextBlock } from "../block-fields.ts";
import { countField, type Fields, otherFields, presentFields, textField } from "../fields.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry } from "../source.ts";

export const FORMAT = "claw-code";

/** Fields of the file that apply to all messages. */
export interface MessageSetting {
  readonly model: string | null;
  readonly createdAt: number | null;
  readonly problems: ProblemLog;
}

/** Undefined, with a problem, if it is not a message. */
export function toMessage(
  message: unknown,
  sourceId: string,
  setting: MessageSetting,
  line?: number,
): ImportedEntry | undefined {
  const { problems } = setting;
  if (!isPlainObject(message) || !Array.isArray(message["blocks"])) {
    problems.add("unexpected", "a message without a list of blocks was left out", line);
    return undefined;
  }
  const role = ROLES.find((known) => known === message["role"]);
  if (role === undefined) {
    problems.add("unexpected", "a message whose role is unknown was left out", line);
    return undefined;
  }
  const blocks = message["blocks"].map(toBlock);
  const { usage } = message;
  const known = ["role", "blocks", ...(isUsage(usage) ? ["usage"] : [])];
  const fields = otherFields(message, known);
  return {
    sourceId,
    kind: "message",
    role,
    actor: actorOf(role, blocks),
    blocks,
    data: null,
    usage: isUsage(usage) ? toUsage(usage) : null,
    model: role === "assistant" ? setting.model : null,
    createdAt: setting.createdAt,
    metadata: toSourceMetadata({ format: FORMAT, id: null, ...presentFields({ fields }) }),
  };
}

function actorOf(role: Role, blocks: readonly Block[]): string | null {
  if (role === "assistant") return FORMAT;
  const [first] = blocks;
  return role === "tool" && first?.type === "tool_result" ? (first.toolName ?? null) : null;
}

const COUNTS = {
  input_tokens: "inputTokens",
  output_tokens: "outputTokens",
  cache_creation_input_tokens: "cacheCreationTokens",
  cache_read_input_tokens: "cacheReadTokens",
} as const satisfies Record<string, keyof Usage>;

function isUsage(usage: unknown): usage is Record<string, unknown> {
  return isPlainObject(usage) && countField(usage, "input_tokens") !== undefined;
}

function toUsage(usage: Fields): Usage {
  const counts = Object.entries(COUNTS).map(([theirs, ours]) => [
    ours,
    countField(usage, theirs) ?? 0,
  ]);
  return Object.fromEntries(counts) as Usage;
}

function toBlock(block: unknown): Block {
  const known = isPlainObject(block) ? toKnownBlock(block) : undefined;
  return known ?? { type: "opaque", provider: FORMAT, json: JSON.stringify(block) };
}

function toKnownBlock(fields: Fields): Block | undefined {
  switch (fields["type"]) {
    case "text":
      return toTextBlock(fields);
    case "thinking": {
      const text = textField(fields, "thinking");
      if (text === undefined) return undefined;
      return { ...otherFields(fields, ["type", "thinking"]), type: "thinking", text };
    }
    case "tool_use":
      return toCallBlock(fields, "input");
    case "tool_result": {
      const toolUseId = textField(fields, "tool_use_id");
      const toolName = textField(fields, "tool_name");
      const output = textField(fields, "output");
      if (toolUseId === undefined || output === undefined) return undefined;
      const known = ["type", "tool_use_id", "tool_name", "output", "is_error"];
      const isError = fields["is_error"] === true;
      return resultBlock(toolUseId, toolName, output, isError, otherFields(fields, known));
    }
    default:
      return undefined;
  }
}
