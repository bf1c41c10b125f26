/**
 * The session that an import writes to: an existing one, or one created lazily.
 *
 * Most files are small and are read completely before their first entries are stored, so the
 * session is created with all known fields instead of being updated right afterwards.
 */

import { BackscrollError } from "../../model/errors.ts";
import type { Session } from "../../model/session.ts";
import { patchedMetadata } from "../../store/metadata.ts";
import type { NewSession } from "../../store/records.ts";
import type { EngineContext } from "../engine-context.ts";
import type { Described, Description } from "./describe-session.ts";

/** Finds the id key of a session; null if the session does not exist yet. */
export type FindIdKey = (session: Session | null) => Promise<string>;

export class ImportSubject {
  /** Null until created. */
  session: Session | null;
  /** Created by this import. */
  isNew: boolean;
  readonly startedAt: number;
  /** The key that entry ids are derived from. */
  idKey = "";
  readonly #engine: EngineContext;
  readonly #draft: NewSession | undefined;
  readonly #findIdKey: FindIdKey;

  private constructor(engine: EngineContext, found: Session | NewSession, findIdKey: FindIdKey) {
    const isFound = "leaf" in found;
    this.#engine = engine;
    this.session = isFound ? found : null;
    this.isNew = !isFound;
    this.startedAt = found.startedAt;
    this.#draft = isFound ? undefined : found;
    this.#findIdKey = findIdKey;
  }

  static async of(
    engine: EngineContext,
    found: Session | NewSession,
    findIdKey: FindIdKey,
  ): Promise<ImportSubject> {
    const subject = new ImportSubject(engine, found, findIdKey);
    subject.idKey = await findIdKey(subject.session);
    return subject;
  }

  /** The session's fields, whether it exists or not. */
  get described(): Described | undefined {
    return this.session ?? this.#draft;
  }

  /** Creates the session if it does not exist. */
  async make(description: Description = {}): Promise<Session> {
    if (this.session !== null) return this.session;
    const draft = this.#draft as NewSession;
    const metadata = patchedMetadata(draft.metadata, description);
    this.session = await this.#create({ ...draft, ...description, metadata });
    return this.session;
  }

  async #create(session: NewSession): Promise<Session> {
    const { store, tenant } = this.#engine;
    try {
      return await store.createSession(tenant, session);
    } catch (error) {
      // Another import of the same session is in progress.
      const { key = "" } = session.origin;
      const other = BackscrollError.is(error, "session_exists")
        ? await store.findSessionByOrigin(tenant, key)
        : undefined;
      if (other === undefined) throw error;
      this.isNew = false;
      this.idKey = await this.#findIdKey(other);
      return other;
    }
  }
}
