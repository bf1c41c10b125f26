/** From what a caller says of a session to what the store keeps of it. */

import { checkId, checkName, checkText } from "../model/ids.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { describe, isPlainObject, type JsonObject } from "../model/json.ts";
import {
  MAX_PARTICIPANTS,
  MAX_PATH_BYTES,
  MAX_SUMMARY_BYTES,
  MAX_TITLE_BYTES,
} from "../model/limits.ts";
import { type IngestFigures, type Origin, RETENTIONS, type Retention } from "../model/session.ts";
import type { NewSession, SessionPatch } from "../store/records.ts";
import {
  checkCount,
  checkInput,
  checkMetadata,
  checkObject,
  checkOneOf,
  checkTime,
  invalid,
  tooLarge,
} from "./check.ts";
import { idempotency } from "./idempotency.ts";

/** More than any agent has tools. */
const MAX_COUNTED_TOOLS = 1_000;

export interface CreateSessionInput {
  /** Chosen by the caller, or a new ULID. */
  readonly id?: string;
  readonly agent: string;
  readonly createdBy: string;
  /** Defaults to `createdBy`. */
  readonly owner?: string;
  readonly title?: string;
  readonly participants?: readonly string[];
  readonly metadata?: JsonObject;
  /** Seconds after the last append at which a sweep deletes the session. */
  readonly ttl?: number | null;
  /** `metadata.retention` if left out, or else `full`. */
  readonly retention?: Retention;
  readonly origin?: Origin;
  /** When the conversation began, if not now. */
  readonly startedAt?: number | Date;
  /** The same request under the same key gives the same session. */
  readonly idempotencyKey?: string;
}

export interface UpdateSessionInput {
  readonly title?: string;
  readonly owner?: string;
  readonly summary?: string | null;
  /** Merged key by key; null removes a key. */
  readonly metadata?: JsonObject;
  /** Replaces the whole list. */
  readonly participants?: readonly string[];
  readonly ttl?: number | null;
  /** If left out, `metadata.retention` where that is given: null there means `full`. */
  readonly retention?: Retention;
  /** Figures of an ingested session, for ingestion. */
  readonly figures?: IngestFigures;
}

export function toNewSession(
  input: CreateSessionInput,
  newId: () => string,
  now: number,
): NewSession {
  checkInput(input, "session", INPUTS.createSession);
  const createdBy = checkName(input.createdBy, "createdBy");
  const session: Omit<NewSession, "id" | "startedAt" | "now"> = {
    agent: checkName(input.agent, "agent"),
    createdBy,
    owner: input.owner === undefined ? createdBy : checkName(input.owner, "owner"),
    title: checkText(input.title ?? "", "title", MAX_TITLE_BYTES),
    participants: checkParticipants(input.participants ?? []),
    metadata: checkMetadata(input.metadata ?? {}),
    ttl: checkTtl(input.ttl ?? null),
    retention: retentionOf(input) ?? "full",
    origin: checkOrigin(input.origin ?? {}),
  };
  const startedAt =
    input.startedAt === undefined ? undefined : checkTime(input.startedAt, "startedAt");
  const id = input.id === undefined ? undefined : checkId(input.id, "id");
  return {
    ...session,
    id: id ?? newId(),
    startedAt: startedAt ?? now,
    now,
    ...idempotency(input.idempotencyKey, () => ["create", id ?? null, session, startedAt ?? null]),
  };
}

export function toSessionPatch(input: UpdateSessionInput): SessionPatch {
  const retention = retentionOf(checkInput(input, "update", INPUTS.update));
  return {
    ...(input.title === undefined
      ? {}
      : { title: checkText(input.title, "title", MAX_TITLE_BYTES) }),
    ...(input.owner === undefined ? {} : { owner: checkName(input.owner, "owner") }),
    ...(input.summary === undefined ? {} : { summary: checkSummary(input.summary) }),
    ...(input.metadata === undefined ? {} : { metadata: checkMetadata(input.metadata) }),
    ...(input.participants === undefined
      ? {}
      : { participants: checkParticipants(input.participants) }),
    ...(input.ttl === undefined ? {} : { ttl: checkTtl(input.ttl) }),
    ...(retention === undefined ? {} : { retention }),
    ...(input.figures === undefined ? {} : { figures: checkFigures(input.figures) }),
  };
}

function checkFigures(figures: IngestFigures): IngestFigures {
  const { exchangeCount, toolCounts, fileMtime, firstMessageAt, lastMessageAt } = checkInput(
    figures,
    "figures",
    INPUTS["update.figures"],
  );
  const time = (value: number | null, field: string) =>
    value === null ? null : checkTime(value, `figures.${field}`);
  const counts = Object.entries(checkObject(toolCounts, "figures.toolCounts"));
  for (const [name, count] of counts) checkCount(count, `figures.toolCounts.${name.slice(0, 80)}`);
  if (counts.length > MAX_COUNTED_TOOLS) {
    throw tooLarge("figures.toolCounts", MAX_COUNTED_TOOLS, counts.length, "count fewer");
  }
  return {
    exchangeCount: checkCount(exchangeCount, "figures.exchangeCount"),
    toolCounts: checkMetadata(toolCounts, "figures.toolCounts") as IngestFigures["toolCounts"],
    fileMtime: time(fileMtime, "fileMtime"),
    firstMessageAt: time(firstMessageAt, "firstMessageAt"),
    lastMessageAt: time(lastMessageAt, "lastMessageAt"),
  };
}

/**
 * The field itself, or else `metadata.retention`, where null (which removes the key) means `full`.
 * Undefined if neither is given.
 */
function retentionOf({
  retention,
  metadata,
}: Pick<UpdateSessionInput, "retention" | "metadata">): Retention | undefined {
  if (retention !== undefined) return checkOneOf(retention, RETENTIONS, "retention");
  if (!isPlainObject(metadata) || !Object.hasOwn(metadata, "retention")) return undefined;
  return checkOneOf(metadata["retention"] ?? "full", RETENTIONS, "metadata.retention");
}

function checkSummary(summary: string | null): string | null {
  return summary === null ? null : checkText(summary, "summary", MAX_SUMMARY_BYTES);
}

export function checkTtl(ttl: number | null): number | null {
  if (ttl === null) return null;
  if (Number.isSafeInteger(ttl) && ttl >= 1) return ttl;
  const shown = typeof ttl === "number" ? String(ttl) : describe(ttl);
  throw invalid(
    "ttl",
    `ttl must be a whole number of seconds of at least 1, or null, not ${shown}`,
  );
}

function checkParticipants(participants: unknown): string[] {
  if (!Array.isArray(participants)) throw invalid("participants", "participants must be an array");
  if (participants.length > MAX_PARTICIPANTS) {
    throw tooLarge("participants", MAX_PARTICIPANTS, participants.length, "name fewer");
  }
  return [...new Set(participants.map((actor, i) => checkName(actor, `participants[${i}]`)))];
}

function checkOrigin(origin: Origin): Origin {
  const names = INPUTS["createSession.origin"];
  checkInput(origin, "origin", names);
  const fields = names.flatMap((field) => {
    const value = origin[field];
    return value === undefined
      ? []
      : [[field, checkName(value, `origin.${field}`, MAX_PATH_BYTES)]];
  });
  return Object.fromEntries(fields) as Origin;
}
