/** The sessions of another program's threads, found or created by key. */

import type { SessionApi, TenantApi } from "../../engine/interfaces.ts";
import type { EnsureSessionInput } from "../../engine/sessions/resolve-session.ts";
import { BackscrollError } from "../../model/errors.ts";

/** Gives the fields of one session, before it is created. */
type OwnFields = () => Promise<Omit<Partial<EnsureSessionInput>, "key">>;

/** The capacity of the cache of session ids by key. */
const MAX_KNOWN = 1_000;

export class KnownSessions {
  readonly #tenant: TenantApi;
  readonly #input: Omit<EnsureSessionInput, "key">;
  readonly #known = new Map<string, SessionApi>();

  /** `input` has the fields of new sessions. */
  constructor(tenant: TenantApi, input: Omit<EnsureSessionInput, "key">) {
    this.#tenant = tenant;
    this.#input = input;
  }

  /** Works on the session of a key; on a new one, with `own` fields, if there is none or it was deleted. */
  async run<Result>(
    key: string,
    work: (session: SessionApi) => Promise<Result>,
    own: OwnFields = async () => ({}),
  ): Promise<Result> {
    try {
      return await work(await this.#ensure(key, own));
    } catch (error) {
      if (!BackscrollError.is(error, "session_not_found")) throw error;
      this.#known.delete(key);
      return work(await this.#ensure(key, own));
    }
  }

  /** The session of a key, if there is one. */
  async find(key: string): Promise<SessionApi | undefined> {
    const session = await this.#tenant.findSessionByOrigin(key);
    return session === undefined ? undefined : this.#tenant.session(session.id);
  }

  /** A no-op without a session. */
  async delete(key: string): Promise<void> {
    this.#known.delete(key);
    const session = await this.find(key);
    try {
      await session?.delete();
    } catch (error) {
      // Another caller was quicker.
      if (!BackscrollError.is(error, "session_not_found")) throw error;
    }
  }

  async #ensure(key: string, own: OwnFields): Promise<SessionApi> {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const session = await this.#tenant.ensureSession({ ...this.#input, ...(await own()), key });
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(key, session);
    return session;
  }
}
