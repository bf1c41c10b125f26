/** Reads as of a moment: nothing later, not the caller's own session, only sessions that may speak. */

import type { TenantApi } from "../engine/interfaces.ts";
import type { SearchInput, SearchResult } from "../engine/search.ts";
import type { Entry } from "../model/entry.ts";
import { BackscrollError } from "../model/errors.ts";
import { isPlainObject } from "../model/json.ts";
import { provenanceOf, type Session } from "../model/session.ts";
import { foundSession, unlessDeleted } from "../recap/found-session.ts";
import type { Moment, UnaskedHit, UnaskedOptions } from "./moment.ts";

const DEADLINE_MS = 150;

/** A session of the folder that was active so shortly before is the caller's, if none is named. */
const OWN_GAP_MS = 20 * 60_000;
const MAX_OWN = 20;

export type Hit = SearchResult["hits"][number];

export class Asker {
  readonly tenant: TenantApi;
  readonly moment: Moment;
  readonly #mayQuote: (session: Session) => boolean;
  readonly #until: number;
  readonly #sessions = new Map<string, Session | undefined>();

  constructor(
    tenant: TenantApi,
    moment: Moment,
    { mayQuote = isPersonsOwn, deadlineMs = DEADLINE_MS }: UnaskedOptions,
  ) {
    this.#until = performance.now() + deadlineMs;
    this.tenant = tenant;
    this.moment = moment;
    this.#mayQuote = mayQuote;
  }

  /** Whether the time ran out. */
  get isLate(): boolean {
    return performance.now() > this.#until;
  }

  search(query: string, input: SearchInput): Promise<SearchResult> {
    const { at } = this.moment;
    const left = Math.max(1, Math.floor(this.#until - performance.now()));
    return this.tenant.searchSessions(query, {
      match: "words",
      contextBefore: 0,
      contextAfter: 0,
      until: at,
      deadlineMs: left,
      ...input,
    });
  }

  /** The messages from `offset` on that were there. */
  async read(
    sessionId: string,
    offset: number,
    limit: number,
    preview = true,
  ): Promise<readonly Entry[]> {
    const from = Math.max(0, offset);
    const input = { offset: from, limit, preview };
    const page = await unlessDeleted(() => this.tenant.listMessages(sessionId, input));
    return (page?.messages ?? []).filter(({ createdAt }) => createdAt < this.moment.at);
  }

  /** How many sessions there were, up to `most`. */
  async countSessions(most: number): Promise<number> {
    return (await this.tenant.listSessions({ until: this.moment.at, limit: most })).sessions.length;
  }

  async session(id: string): Promise<Session | undefined> {
    if (!this.#sessions.has(id)) this.#sessions.set(id, await foundSession(this.tenant, id));
    return this.#sessions.get(id);
  }

  /** Whether a session may be quoted: not the caller's own, nor one that may not speak. */
  async mayQuote(id: string): Promise<boolean> {
    const session = await this.session(id);
    return session !== undefined && !(await this.isOwn(id)) && this.#mayQuote(session);
  }

  /** Whether it is the caller's own session, its parent or a sub-agent of it. */
  async isOwn(id: string): Promise<boolean> {
    this.#own ??= this.#findOwn();
    const own = await this.#own;
    const session = own.length === 0 ? undefined : await this.session(id);
    return session !== undefined && own.some((each) => isSameWork(each, session));
  }

  #own: Promise<readonly Session[]> | undefined;

  /** Whether a person marked the message, or its session, as what does not hold. */
  async isMarked({ sessionId, index }: Pick<UnaskedHit, "sessionId" | "index">): Promise<boolean> {
    const marks = await unlessDeleted(() => this.tenant.session(sessionId).marks());
    return marks?.some((mark) => mark.entryId === null || mark.index === index) ?? true;
  }

  /** The named session; if none is named, those of the folder that were running. */
  async #findOwn(): Promise<readonly Session[]> {
    const { session: named, cwd, at } = this.moment;
    if (named !== undefined) {
      try {
        return [await this.tenant.getSessionMeta(named)];
      } catch (error) {
        if (BackscrollError.is(error, "session_not_found")) return [];
        throw error;
      }
    }
    const own: Session[] = [];
    // A session that starts has said nothing yet.
    if (this.moment.moment === "start") return own;
    const { sessions } = await this.tenant.listSessions({
      project: cwd,
      since: at - OWN_GAP_MS,
      limit: MAX_OWN,
    });
    for (const session of sessions) {
      if (session.origin.projectPath !== cwd || session.startedAt > at) continue;
      const last = await this.lastBefore(session);
      if (last !== undefined && at - last.at <= OWN_GAP_MS) own.push(session);
    }
    return own;
  }

  /** The session's last message before the moment. Bisects: the times of a path grow. */
  async lastBefore({
    id,
    lastInteractionAt,
    messageCount,
  }: Session): Promise<{ readonly index: number; readonly at: number } | undefined> {
    const { at } = this.moment;
    if (lastInteractionAt < at) return { index: messageCount - 1, at: lastInteractionAt };
    let [low, high] = [0, messageCount];
    let last: { readonly index: number; readonly at: number } | undefined;
    while (low < high) {
      const index = (low + high) >> 1;
      const input = { offset: index, limit: 1, preview: true };
      const [entry] = (await this.tenant.listMessages(id, input)).messages;
      if (entry === undefined || entry.createdAt >= at) high = index;
      else [low, last] = [index + 1, { index, at: entry.createdAt }];
    }
    return last;
  }
}

function isPersonsOwn(session: Session): boolean {
  return provenanceOf(session) === "own";
}

/** One session, or one that the other started for a part of its work. */
function isSameWork(a: Session, b: Session): boolean {
  return a.id === b.id || startedBy(a, b) || startedBy(b, a);
}

function startedBy({ parentSessionId, metadata }: Session, { id, origin }: Session): boolean {
  const { parent } = metadata;
  const key = isPlainObject(parent) ? parent["key"] : undefined;
  return parentSessionId === id || (key !== undefined && key === origin.key);
}
