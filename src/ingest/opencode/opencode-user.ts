/** User messages of opencode: typed text, and text that the program inserted. */

import type { Block } from "../../model/block.ts";
import type { EntryDraft } from "../drafts.ts";
import { type Fields, objectField, otherFields, textField } from "../fields.ts";
import { copyMarkOf } from "./opencode-mark.ts";
import type { OpencodeMessage } from "./opencode-message.ts";
import { FORMAT } from "./opencode-step.ts";

export function toUserDraft({ id, data, parts }: OpencodeMessage): EntryDraft {
  const texts = parts.filter(({ type }) => type === "text");
  const isInjected = texts.length > 0 && texts.every(({ synthetic }) => synthetic === true);
  const model = objectField(data, "model");
  const isMark = parts.length > 0 && parts.every(({ type }) => type === "compaction");
  const base = {
    sourceId: id,
    blocks: parts.map(toUserBlock),
    model: textField(model, "modelID") ?? null,
    fields: { ...otherFields(data, ["id", "sessionID", "role"]), ...copyMarkOf(parts) },
  };
  if (isMark) return { ...base, kind: "custom", data: { type: `${FORMAT}:compaction` } };
  return isInjected
    ? { ...base, kind: "custom_message", data: { type: `${FORMAT}:synthetic`, display: false } }
    : { ...base, kind: "message", role: "user" };
}

function toUserBlock(part: Fields): Block {
  const text = textField(part, "text");
  if (part["type"] === "text" && text !== undefined) {
    return { ...otherFields(part, [...OWN, "text"]), type: "text", text };
  }
  const mediaType = textField(part, "mime");
  const url = textField(part, "url");
  if (part["type"] === "file" && mediaType?.startsWith("image/") && url !== undefined) {
    const rest = otherFields(part, [...OWN, "mime", "url"]);
    const [, data] = /^data:[^,]*;base64,(.*)$/s.exec(url) ?? [];
    return { ...rest, type: "image", mediaType, ...(data === undefined ? { url } : { data }) };
  }
  return { type: "opaque", provider: FORMAT, json: JSON.stringify(otherFields(part, IDS)) };
}

const IDS = ["id", "messageID", "sessionID"];
const OWN = ["type", ...IDS];
