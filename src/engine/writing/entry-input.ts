/** Entries of several kinds in one append. */

import { checkName, checkText } from "../../model/ids.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import {
  describe,
  isPlainObject,
  type JsonObject,
  type JsonValue,
  stringifyJson,
} from "../../model/json.ts";
import { type ContentInput, normalizeContent } from "../../transcript/normalize.ts";
import type { AppendOptions } from "../append.ts";
import { checkInput, checkList, checkOneOf, checkTime, invalid } from "../check.ts";
import {
  type Draft,
  draftEntry,
  draftMessage,
  type MessageInput,
  type NewEntryId,
} from "../message-input.ts";

export interface BranchInput {
  /** Summary of the abandoned branch. */
  readonly summary?: ContentInput;
  readonly expectedLeaf?: string | null;
}

export interface EditInput extends Pick<AppendOptions, "expectedLeaf" | "idempotencyKey"> {
  readonly actor?: string;
  readonly metadata?: JsonObject;
}

export interface CustomMessageInput {
  /** The extension's name for it. */
  readonly type: string;
  readonly content: ContentInput;
  readonly display?: boolean;
  readonly metadata?: JsonObject;
}

/** A message: the default kind. */
export interface MessageEntryInput extends Omit<MessageInput, "toolResults"> {
  readonly kind?: "message";
}

/** An extension's state at this point of the conversation. The model never sees it. */
export interface CustomEntryInput extends WriterFields {
  readonly kind: "custom";
  /** The extension's name for it. */
  readonly type: string;
  readonly data: JsonValue;
}

/** Text for the model that is not a message. */
export interface CustomMessageEntryInput extends CustomMessageInput, WriterFields {
  readonly kind: "custom_message";
}

export type EntryInput = MessageEntryInput | CustomEntryInput | CustomMessageEntryInput;

interface WriterFields {
  /** The caller's id of the entry, unique within the session forever: any text. */
  readonly externalId?: string;
  /** The time of the entry. Default: now. */
  readonly createdAt?: number | Date;
}

const KINDS = ["message", "custom", "custom_message"] as const;

/** One draft for each entry. */
export function draftEntries(
  entries: readonly EntryInput[],
  newId: NewEntryId,
  now: number,
  field = "entries",
): Draft[] {
  return checkList(entries, field).map((entry, i) => draftOne(entry, newId, now, `${field}[${i}]`));
}

function draftOne(input: EntryInput, newId: NewEntryId, now: number, field: string): Draft {
  if (!isPlainObject(input)) {
    throw invalid(field, `${field} must be an object, not ${describe(input)}`);
  }
  const { kind = "message", ...message } = input;
  switch (checkOneOf(kind, KINDS, `${field}.kind`)) {
    case "custom":
      return draftCustom(input as CustomEntryInput, newId, now, field);
    case "custom_message":
      return draftCustomMessage(input as CustomMessageEntryInput, newId, now, field);
    case "message":
      return draftPlain(message as MessageInput, newId, now, field);
  }
}

function draftPlain(input: MessageInput, newId: NewEntryId, now: number, field: string): Draft {
  if ((input.toolResults ?? null) !== null) {
    throw invalid(
      "toolResults",
      `${field}.toolResults would become several entries; give each result as an entry with the role tool`,
    );
  }
  const [draft] = draftMessage(input, newId, now, field);
  if (draft === undefined) throw new Error("a message has an entry");
  return draft;
}

function draftCustom(
  input: CustomEntryInput,
  newId: NewEntryId,
  now: number,
  field: string,
): Draft {
  const { type, data } = checkInput(input, field, INPUTS["appendEntries.custom"]);
  stringifyJson(data, "data");
  const own = { type: checkText(type, "type"), data };
  return draftKind({ kind: "custom", blocks: [], data: own }, input, newId, now);
}

function draftCustomMessage(
  input: CustomMessageEntryInput,
  newId: NewEntryId,
  now: number,
  field: string,
): Draft {
  const names = INPUTS["appendEntries.customMessage"];
  const { type, content, display = true, metadata } = checkInput(input, field, names);
  const entry = {
    kind: "custom_message",
    blocks: normalizeContent(content),
    data: { type: checkText(type, "type"), display },
    ...(metadata === undefined ? {} : { metadata }),
  } as const;
  return draftKind(entry, input, newId, now);
}

function draftKind(
  entry: Omit<Parameters<typeof draftEntry>[0], "externalId">,
  { externalId, createdAt }: WriterFields,
  newId: NewEntryId,
  now: number,
): Draft {
  const at = createdAt === undefined ? now : checkTime(createdAt, "createdAt");
  if (externalId === undefined) {
    return { ...draftEntry(entry, newId(), at), dated: createdAt !== undefined };
  }
  const named = checkName(externalId, "externalId");
  const draft = draftEntry({ ...entry, externalId: named }, newId(named), at);
  return { ...draft, dated: createdAt !== undefined };
}
