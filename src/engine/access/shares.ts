/**
 * Shares: expiring public links to one session. Each is an access token of its own scope, with the
 * session's id as its label. Callers that show a shared session must mask secrets.
 */

import { type AccessToken, SHARE_SCOPE } from "../../model/access.ts";
import type { SHARE } from "../../model/answers/store.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { DEFAULT_SHARE_DAYS, MAX_PAGE, MAX_SHARE_DAYS } from "../../model/limits.ts";
import type { FieldsOf } from "../../model/shape.ts";
import { sessionNotFound, tokenNotFound } from "../../store/store-errors.ts";
import { checkInput, checkKey, checkTime, invalid } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { findValidToken, formatToken, hashSecret, newSecret } from "./authenticate.ts";

export interface Share extends FieldsOf<typeof SHARE> {}

export interface CreateShareInput {
  /** Expiry: at most 365 days. Default: 7 days. */
  readonly expires?: number | Date;
}

export interface CreatedShare {
  /** The last part of the link; it is given once and not stored. */
  readonly token: string;
  readonly share: Share;
}

export interface OpenedShare {
  readonly tenant: string;
  readonly sessionId: string;
}

const DAY_MS = 86_400_000;

export class Shares {
  readonly #engine: EngineContext;

  constructor(engine: EngineContext) {
    this.#engine = engine;
  }

  /** Throws `session_not_found`. */
  async create(sessionId: string, input: CreateShareInput = {}): Promise<CreatedShare> {
    const { store, tenant, by, newId } = this.#engine;
    const { expires } = checkInput(input, "share", INPUTS.createShare);
    if ((await store.findSession(tenant, checkKey(sessionId, "sessionId"))) === undefined) {
      throw sessionNotFound(sessionId);
    }
    const now = this.#engine.now();
    const [id, secret] = [newId(), newSecret()];
    const token = {
      id,
      secretHash: hashSecret(secret),
      scope: SHARE_SCOPE,
      actor: by?.actor ?? null,
      actAs: [],
      operator: false,
      label: sessionId,
      createdAt: now,
      expiresAt: expires === undefined ? now + DEFAULT_SHARE_DAYS * DAY_MS : end(expires, now),
    } as const;
    const record = await store.createToken(tenant, token, by);
    return { token: formatToken(id, secret, "bss"), share: toShare(record) };
  }

  /** Valid shares in order of creation; of one session, if named. */
  async list(sessionId?: string): Promise<readonly Share[]> {
    const { store, tenant } = this.#engine;
    if (sessionId !== undefined) checkKey(sessionId, "sessionId");
    const shares: Share[] = [];
    for (let after: string | undefined; ; ) {
      const page = await store.listTokens(tenant, after, MAX_PAGE);
      const open = page.filter((token) => this.#isOpen(token)).map(toShare);
      shares.push(
        ...open.filter((share) => sessionId === undefined || share.sessionId === sessionId),
      );
      if (page.length < MAX_PAGE) break;
      after = page.at(-1)?.id;
    }
    const there = await Promise.all(
      [...new Set(shares.map((share) => share.sessionId))].map(async (id) =>
        (await store.findSession(tenant, id)) === undefined ? [] : [id],
      ),
    );
    const sessions = new Set(there.flat());
    return shares.filter((share) => sessions.has(share.sessionId));
  }

  /** Revokes the link. Throws `token_not_found` for a token that is not a share of this tenant. */
  async revoke(id: string): Promise<void> {
    const { store, tenant, by } = this.#engine;
    const known = (await this.list()).some((share) => share.id === checkKey(id, "id"));
    if (!known) throw tokenNotFound(id);
    await store.revokeToken(tenant, id, this.#engine.now(), by);
  }

  #isOpen({ scope, revokedAt, expiresAt }: AccessToken): boolean {
    return scope === SHARE_SCOPE && revokedAt === null && (expiresAt ?? 0) > this.#engine.now();
  }
}

/** Undefined if the link is malformed, unknown, expired or revoked, or its session is deleted. */
export async function openShare(
  host: Pick<EngineContext, "store" | "now">,
  text: string,
): Promise<OpenedShare | undefined> {
  const token = await findValidToken(host, text, "bss");
  if (token === undefined || token.scope !== SHARE_SCOPE) return undefined;
  const { tenant } = token;
  const session = await host.store.findSession(tenant, token.label ?? "");
  return session === undefined ? undefined : { tenant, sessionId: session.id };
}

function toShare({ id, label, actor, createdAt, expiresAt }: AccessToken): Share {
  return { id, sessionId: label ?? "", sharedBy: actor, createdAt, expiresAt: expiresAt ?? 0 };
}

function end(value: unknown, now: number): number {
  const time = checkTime(value, "expires");
  if (time > now && time <= now + MAX_SHARE_DAYS * DAY_MS) return time;
  throw invalid("expires", `expires must be in the future, within ${MAX_SHARE_DAYS} days`);
}
