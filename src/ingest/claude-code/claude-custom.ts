/**
 * Lines of Claude Code that are not messages: hooks, turn durations, attachments, modes. They are
 * kept whole as custom data under their type, known or not.
 */

import { type Fields, nameOf, otherFields, textField, timeField } from "../fields.ts";
import type { MappedEntry } from "./claude-lines.ts";

/** Fields of the line's place; `cwd` and the like belong to the session. */
const PLACE = [
  "type",
  "uuid",
  "parentUuid",
  "logicalParentUuid",
  "timestamp",
  "isSidechain",
  "sessionId",
  "cwd",
  "gitBranch",
  "version",
  "userType",
  "entrypoint",
];

export function toCustom(record: Fields): MappedEntry {
  const subtype = textField(record, "subtype");
  const type = [nameOf(record["type"] ?? "unknown"), ...(subtype === undefined ? [] : [subtype])];
  return {
    kind: "custom",
    role: null,
    actor: null,
    blocks: [],
    usage: null,
    model: null,
    data: { type: `claude-code:${type.join(":")}`, data: otherFields(record, PLACE) },
    createdAt: timeField(record, "timestamp"),
    metadata: record["isSidechain"] === true ? { sidechain: true } : {},
    fields: {},
  };
}
