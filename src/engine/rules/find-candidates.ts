/** Candidates: rules found in what people said, computed on demand. */

import type { Entry } from "../../model/entry.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import type { Rule } from "../../model/note.ts";
import { isPersons, NO_PROJECT_ID, type Session } from "../../model/session.ts";
import { findRules } from "../../rules/find-rules.ts";
import { endsInFiles } from "../../rules/persons-words.ts";
import { isInjected } from "../../search/document/injected.ts";
import { findAll } from "../context/standing.ts";
import type { EngineContext } from "../engine-context.ts";
import { toEntry } from "../entry-view.ts";
import type { RulePlace } from "./stored-rules.ts";

/** How far back a session is read: a context with rules takes 20 ms longer for each 1,000 messages. */
const MAX_MESSAGES = 10 * MAX_PAGE;
/** Each is compared with the others: beyond this, only the newest count. */
export const MAX_CANDIDATES = 500;

export interface CandidateOptions {
  readonly leaf?: string | undefined;
  readonly participants?: ReadonlySet<string> | null;
  /** The most messages to read. */
  readonly messages?: number;
}

export interface Candidates {
  /** Newest first. */
  readonly rules: readonly Rule[];
  /** The number of messages that were read. */
  readonly read: number;
  /** Whether that was the whole path. */
  readonly complete: boolean;
}

/** The candidates of a session's path: at most 500. */
export async function candidatesOf(
  engine: EngineContext,
  session: Session,
  { leaf, participants, messages = MAX_MESSAGES }: CandidateOptions = {},
): Promise<Candidates> {
  if (!isPersons(session)) return { rules: [], read: 0, complete: true };
  const rules: Rule[] = [];
  let read = 0;
  let before: string | undefined;
  while (read < messages && rules.length < MAX_CANDIDATES) {
    // A page takes 50 ms: others take their turn.
    if (read > 0) await new Promise((resolve) => setImmediate(resolve));
    const page = await engine.store.readEntries(engine.tenant, {
      select: "history",
      sessionId: session.id,
      ...(leaf === undefined ? {} : { leaf }),
      ...(before === undefined ? {} : { before }),
      include: "messages",
      limit: MAX_PAGE,
      payloads: false,
    });
    const said = page.entries
      .filter(({ role, actor }) => {
        const isTheirs = !participants || actor === null || participants.has(actor);
        return role === "user" && isTheirs;
      })
      .map((record) => toEntry(record, page.payloads));
    const cut = said.filter(({ truncated }) => truncated).map(({ id }) => id);
    const whole = new Map((await findAll(engine, cut)).map((entry) => [entry.id, entry]));
    for (const entry of said.toReversed()) {
      if (rules.length >= MAX_CANDIDATES) break;
      rules.push(...rulesOf(session, whole.get(entry.id) ?? entry));
    }
    read += page.entries.length;
    before = page.entries[0]?.id;
    if (page.entries.length < MAX_PAGE || before === undefined) {
      return {
        rules: rules.slice(0, MAX_CANDIDATES),
        read,
        complete: rules.length < MAX_CANDIDATES,
      };
    }
  }
  return { rules: rules.slice(0, MAX_CANDIDATES), read, complete: false };
}

/**
 * The rules of a message, as candidates of its session's project, or else of its owner. Only the
 * owner's own words: a rule holds in their name, and in a conversation of several an actor may be
 * another agent.
 */
export function rulesOf(session: Session, entry: Entry): readonly Rule[] {
  const { kind, role, status, erased, supersededBy, metadata, index, actor } = entry;
  const isSaid = kind === "message" && role === "user" && status === "committed";
  if (!isSaid || erased || supersededBy !== null || isInjected(metadata)) return [];
  if (!isPersons(session) || (actor !== null && actor !== session.owner)) return [];
  const place = placeOf(session);
  const texts = entry.blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const last = texts.findIndex(endsInFiles);
  return texts
    .slice(0, last < 0 ? undefined : last + 1)
    .flatMap((text) => [...findRules(text)])
    .map((text, i) => ({
      id: `${entry.id}-${i + 1}`,
      text,
      status: "candidate" as const,
      ...place,
      sessionId: session.id,
      sourceEntry: entry.id,
      source: index === null ? session.shortId : `${session.shortId}#${index}`,
      saidAt: entry.createdAt,
      replaces: null,
    }));
}

/** The scopes whose rules hold in a session. */
export function placesOf(session: Session): readonly RulePlace[] {
  const own = { project: null, owner: session.owner };
  const place = placeOf(session);
  return place.project === null ? [own] : [place, own];
}

export function placeOf(session: Session): RulePlace {
  const { projectPath, projectId } = session.origin;
  const project = projectPath ?? (projectId === NO_PROJECT_ID ? null : (projectId ?? null));
  return { project, owner: project === null ? session.owner : null };
}
