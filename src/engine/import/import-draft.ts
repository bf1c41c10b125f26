/** Maps a reader's entry to a valid draft, for any content. */

import { CUT_LENGTH, cutNote } from "../../ingest/long/long-text.ts";
import type { ProblemLog } from "../../ingest/problems.ts";
import type { ImportedEntry } from "../../ingest/source.ts";
import { type Block, inputTextOf } from "../../model/block.ts";
import { kindRules } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import { MAX_METADATA_BYTES, MAX_NAME_BYTES } from "../../model/limits.ts";
import { withInputText } from "../../model/tool-input.ts";
import type { NewEntry } from "../../store/records.ts";
import { PACKED_THRESHOLD_BYTES } from "../../transcript/content.ts";
import { SOURCE_KEY, type SourceFields, toSourceMetadata } from "../../transcript/source-fields.ts";
import { type DraftedContent, draftContent } from "../message-input.ts";

export interface ImportPlace {
  readonly id: string;
  /** Default: the session's leaf. */
  readonly parentId?: string | null;
  /** For an entry without a time. */
  readonly createdAt: number;
  readonly idOf: (sourceId: string) => string;
  readonly problems: ProblemLog;
}

export function draftImported(entry: ImportedEntry, place: ImportPlace): NewEntry {
  const { metadata, data } = fitMetadata(entry, withReferences(entry, place.idOf));
  const { content, payloads, contentBytes } = fitContent(entry, data, place.problems);
  return {
    id: place.id,
    kind: entry.kind,
    role: entry.role,
    actor: knownName(entry.actor),
    content,
    payloads,
    contentBytes,
    usage: entry.copiedFrom === undefined ? entry.usage : null,
    model: knownName(entry.model),
    adapter: null,
    metadata,
    createdAt: entry.createdAt ?? place.createdAt,
    interaction: entry.role === "user" && kindRules(entry.kind).counted,
    ...(place.parentId === undefined ? undefined : { parentId: place.parentId }),
    ...(entry.copiedFrom === undefined ? undefined : { copiedFrom: entry.copiedFrom }),
  };
}

/** Cache: few tools and models write most entries. */
const NAMES = new Map<string, string | null>();
const MAX_NAMES = 256;
const MAX_KNOWN_NAME = 64;

/** The name as it is stored. */
export function knownName(name: string | null): string | null {
  if (name === null || name.length > MAX_KNOWN_NAME) return toName(name);
  const known = NAMES.get(name);
  if (known !== undefined) return known;
  if (NAMES.size === MAX_NAMES) NAMES.clear();
  const made = toName(name);
  NAMES.set(name, made);
  return made;
}

/** A valid name: without characters that text columns refuse, and bounded. */
export function toName(name: string | null, maxBytes: number = MAX_NAME_BYTES): string | null {
  const clean = toText(name ?? "", maxBytes);
  return clean.trim() === "" ? null : clean;
}

/** Text for a text column. */
export function toText(text: string, maxBytes: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: text columns refuse these two.
  const clean = text.toWellFormed().replace(/[\u0000\u0001]/g, "\uFFFD");
  if (fits(clean, maxBytes)) return clean;
  const cut = Buffer.from(clean).subarray(0, maxBytes).toString("utf8");
  // The cut may have split the last character.
  return cut.replace(/(?<!\uFFFD)\uFFFD+$/, "");
}

function withReferences(
  entry: ImportedEntry,
  idOf: (sourceId: string) => string,
): JsonObject | null {
  const { data, references = [] } = entry;
  if (data === null || references.length === 0) return data;
  const named = references.flatMap((name) => {
    const value = data[name];
    return typeof value === "string" ? [[name, idOf(value)] as const] : [];
  });
  return { ...data, ...Object.fromEntries(named) };
}

/**
 * Metadata is bounded; a tool's extra fields need not be, so they move to the data. They come from
 * parsed JSON and are not checked again.
 */
function fitMetadata(
  entry: ImportedEntry,
  data: JsonObject | null,
): { readonly metadata: string; readonly data: JsonObject | null } {
  const text = JSON.stringify(entry.metadata);
  if (fits(text, MAX_METADATA_BYTES)) return { metadata: text, data };
  const { fields = {}, ...source } = entry.metadata[SOURCE_KEY] as unknown as SourceFields;
  return {
    metadata: JSON.stringify(toSourceMetadata(source)),
    data: { ...data, [SOURCE_KEY]: fields },
  };
}

/** Fast path: most texts are far below the limit. */
function fits(text: string, maxBytes: number): boolean {
  return text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes;
}

/** Kept lengths of each text of an oversized entry, in order of trial. */
const KEPT_LENGTHS = [CUT_LENGTH, 64 * 1024, 1024] as const;

function fitContent(
  entry: ImportedEntry,
  data: JsonObject | null,
  problems: ProblemLog,
): DraftedContent {
  try {
    return draftContent({ blocks: entry.blocks, data }, PACKED_THRESHOLD_BYTES);
  } catch (error) {
    if (!BackscrollError.is(error, "too_large")) throw error;
  }
  problems.add("entry_cut", `entry ${entry.sourceId} is larger than 8 MiB and was shortened`);
  for (const length of KEPT_LENGTHS) {
    try {
      return draftContent({
        blocks: entry.blocks.map((block) => cutBlock(block, length)),
        data: cutData(data, length),
      });
    } catch (error) {
      if (!BackscrollError.is(error, "too_large")) throw error;
    }
  }
  const note = "[left out: larger than an entry may be]";
  return draftContent({ blocks: [{ type: "text", text: note }], data: null });
}

function cutBlock(block: Block, length: number): Block {
  switch (block.type) {
    case "text":
    case "thinking":
      return { ...block, text: cut(block.text, length) };
    case "tool_use":
      return withInputText(block, cut(inputTextOf(block), length));
    case "tool_result": {
      const { output } = block;
      return {
        ...block,
        output:
          typeof output === "string"
            ? cut(output, length)
            : output.map((inner) => cutBlock(inner, length)),
      };
    }
    case "image": {
      const size = (block.data ?? block.url ?? "").length;
      return size <= length
        ? block
        : { type: "text", text: `[image of ${size} characters left out]` };
    }
    case "opaque":
      return block.json.length <= length
        ? block
        : { type: "text", text: `[block of ${block.json.length} characters left out]` };
  }
}

/** Our own fields stay; extension fields are dropped if they do not fit. */
function cutData(data: JsonObject | null, length: number): JsonObject | null {
  if (data === null || JSON.stringify(data).length <= length) return data;
  return Object.fromEntries(
    Object.entries(data).filter(([, value]) => JSON.stringify(value).length <= 1024),
  );
}

function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length).toWellFormed()}${cutNote(text.length - length)}`;
}
