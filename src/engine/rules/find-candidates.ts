/** Candidates: rules found in what people said, computed on demand. */

import type { Entry } from "../../model/entry.ts";
import { MAX_PAGE } from "../../model/limits.ts";
import type { Rule } from "../../model/note.ts";
import { isSubAgent, type Session } from "../../model/session.ts";
import { findRules } from "../../rules/find-rules.ts";
import { isInjected } from "../../search/document/injected.ts";
import { redact } from "../../secrets/redact.ts";
import { findAll } from "../context/standing.ts";
import type { EngineContext } from "../engine-context.ts";
import { toEntry } from "../entry-view.ts";
import type { RulePlace } from "./stored-rules.ts";

/** How far back a session is read: a context with rules takes 20 ms longer for each 1,000 messages. */
const MAX_MESSAGES = 10 * MAX_PAGE;

/** Whether a person speaks in it: not to a sub-agent, and not a client's warm-up. */
export function isPersons(session: Session): boolean {
  return !isSubAgent(session) && session.metadata["machineMade"] !== true;
}

/** The candidates of a session's path, newest first. */
export async function candidatesOf(
  engine: EngineContext,
  session: Session,
  {
    leaf,
    participants,
  }: { leaf?: string | undefined; participants?: ReadonlySet<string> | null } = {},
): Promise<readonly Rule[]> {
  if (!isPersons(session)) return [];
  const found: Rule[] = [];
  let before: string | undefined;
  for (let read = 0; read < MAX_MESSAGES; read += MAX_PAGE) {
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
      found.push(...rulesOf(session, whole.get(entry.id) ?? entry));
    }
    before = page.entries[0]?.id;
    if (page.entries.length < MAX_PAGE || before === undefined) break;
  }
  return found;
}

/** The rules of a message, as candidates of its session's project, or else of its owner. */
export function rulesOf(session: Session, entry: Entry): readonly Rule[] {
  const { kind, role, status, erased, supersededBy, metadata, index } = entry;
  const isSaid = kind === "message" && role === "user" && status === "committed";
  if (!isSaid || erased || supersededBy !== null || isInjected(metadata)) return [];
  const place = placeOf(session);
  const texts = entry.blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return texts
    .flatMap((text) => [...findRules(text)])
    .filter((text) => redact(text).text === text)
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
  const project = projectPath ?? projectId ?? null;
  return { project, owner: project === null ? session.owner : null };
}
