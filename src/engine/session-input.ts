/** Maps a caller's input to the stored fields of a session. */

import { compactionProblem } from "../compaction/policy.ts";
import { checkId, checkName, checkText } from "../model/ids.ts";
import { checkPart } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { describe, isPlainObject, type JsonObject } from "../model/json.ts";
import { MAX_PARTICIPANTS, MAX_PATH_BYTES, MAX_TITLE_BYTES } from "../model/limits.ts";
import {
  type IngestFigures,
  type Origin,
  PROVENANCES,
  RETENTIONS,
  type Retention,
  type Session,
} from "../model/session.ts";
import { SETTABLE_FIELDS, type SettableField } from "../model/session-fields.ts";
import type { NewSession, SessionPatch } from "../store/records.ts";
import {
  checkCount,
  checkInput,
  checkMetadata,
  checkOneOf,
  checkTime,
  invalid,
  tooLarge,
} from "./check.ts";
import { idempotency } from "./idempotency.ts";

/** More tools than any agent has. */
const MAX_COUNTED_TOOLS = 1_000;

/** `retention`: default `metadata.retention`, else `full`. */
export interface CreateSessionInput extends Partial<Pick<Session, SettableField>> {
  /** Chosen by the caller. Default: a new ULID. */
  readonly id?: string;
  /** Who answers. Default of `createSession`: `assistant`. */
  readonly agent?: string;
  /** Who asks, and the owner unless another is named. Default of `createSession`: `user`. */
  readonly createdBy?: string;
  readonly origin?: Origin;
  /** The conversation's start. Default: now. */
  readonly startedAt?: number | Date;
  /** A repeated request with the same key gives the same session. */
  readonly idempotencyKey?: string;
}

/**
 * `metadata` is merged key by key; null removes a key. `participants` replaces the whole list. If
 * `retention` is left out, `metadata.retention` counts where that is given: null there means `full`.
 */
export interface UpdateSessionInput extends Partial<Pick<Session, SettableField>> {
  /** Figures of an ingested session, for ingestion. */
  readonly figures?: IngestFigures;
}

/** `written` is the metadata that the caller writes, and not a copy of stored or foreign metadata. */
export function toNewSession(
  input: CreateSessionInput,
  newId: () => string,
  now: number,
  // A caller of JavaScript may pass null: the check below says so.
  written: JsonObject | undefined = (input as CreateSessionInput | null)?.metadata,
): NewSession {
  checkInput(input, "session", INPUTS.createSession);
  checkSettings(written);
  const createdBy = checkName(input.createdBy, "createdBy");
  const session: Omit<NewSession, "id" | "startedAt" | "now"> = {
    agent: checkName(input.agent, "agent"),
    createdBy,
    ...checkNew(input, createdBy),
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
  checkSettings(input.metadata);
  return {
    ...checkSettable(retention === undefined ? input : { ...input, retention }),
    ...(input.figures === undefined ? {} : { figures: checkFigures(input.figures) }),
  };
}

/** Settings in metadata are read leniently; a misspelt one is refused when it is written. */
function checkSettings(metadata: JsonObject | undefined): void {
  const problem = metadata && compactionProblem(metadata);
  if (problem !== undefined) throw invalid(problem.field, problem.message);
}

/** The check of each settable field. */
const CHECKS: {
  readonly [Name in SettableField]: (value: Session[Name]) => Session[Name];
} = {
  owner: (owner) => checkName(owner, "owner"),
  title: (title) => checkText(title, "title", MAX_TITLE_BYTES),
  participants: checkParticipants,
  metadata: (metadata) => checkMetadata(metadata),
  ttl: checkTtl,
  retention: (retention) => checkOneOf(retention, RETENTIONS, "retention"),
};

/** All settable fields, with defaults for a new session. */
function checkNew(input: CreateSessionInput, createdBy: string): Pick<Session, SettableField> {
  const presets: Partial<Session> = {
    owner: createdBy,
    title: "",
    participants: [],
    metadata: {},
    retention: retentionOf(input) ?? "full",
  };
  const given = (name: SettableField) => (input[name] === undefined ? presets[name] : input[name]);
  const all = SETTABLE_FIELDS.map((name) => [name, given(name) ?? null]);
  return checkSettable(Object.fromEntries(all) as Pick<Session, SettableField>);
}

/** The given settable fields, checked. */
function checkSettable<Given extends Partial<Pick<Session, SettableField>>>(
  given: Given,
): Pick<Given, SettableField & keyof Given> {
  const checked = SETTABLE_FIELDS.flatMap((name) => {
    const check = CHECKS[name] as (value: unknown) => unknown;
    return given[name] === undefined ? [] : [[name, check(given[name])] as const];
  });
  return Object.fromEntries(checked) as Pick<Given, SettableField & keyof Given>;
}

function checkFigures(figures: IngestFigures): IngestFigures {
  const { toolCounts } = checkPart(figures, "figures", INPUTS["update.figures"]);
  const counts = Object.entries(toolCounts);
  for (const [name, count] of counts) checkCount(count, `figures.toolCounts.${name.slice(0, 80)}`);
  if (counts.length > MAX_COUNTED_TOOLS) {
    throw tooLarge("figures.toolCounts", MAX_COUNTED_TOOLS, counts.length, "count fewer");
  }
  const checked = checkMetadata(toolCounts, "figures.toolCounts") as IngestFigures["toolCounts"];
  return { ...figures, toolCounts: checked };
}

/**
 * The field, else `metadata.retention`, where null (which removes the key) means `full`. Undefined
 * if neither is given.
 */
function retentionOf({
  retention,
  metadata,
}: Pick<UpdateSessionInput, "retention" | "metadata">): Retention | undefined {
  if (retention !== undefined) return checkOneOf(retention, RETENTIONS, "retention");
  if (!isPlainObject(metadata) || !Object.hasOwn(metadata, "retention")) return undefined;
  return checkOneOf(metadata["retention"] ?? "full", RETENTIONS, "metadata.retention");
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
  const { provenance } = origin ?? {};
  if (provenance !== undefined && !PROVENANCES.some((each) => each === provenance)) {
    throw invalid(
      "origin.provenance",
      `origin.provenance must be one of ${PROVENANCES.join(", ")}, not ${describe(provenance)}`,
    );
  }
  const fields = Object.entries(checkPart(origin, "origin", INPUTS["createSession.origin"]));
  return Object.fromEntries(
    fields.flatMap(([field, value]) =>
      value === undefined ? [] : [[field, checkName(value, `origin.${field}`, MAX_PATH_BYTES)]],
    ),
  );
}
