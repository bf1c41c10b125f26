/** Creates, lists and revokes access tokens of a tenant. The caller is already authorised. */

import {
  ACCESS_SCOPES,
  type Access,
  type AccessScope,
  type AccessToken,
} from "../../model/access.ts";
import { checkName } from "../../model/ids.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { MAX_ACT_AS } from "../../model/limits.ts";
import {
  checkInput,
  checkKey,
  checkLimit,
  checkList,
  checkOneOf,
  checkTime,
  invalid,
  tooLarge,
} from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { formatToken, hashSecret, newSecret } from "./authenticate.ts";

export interface CreateTokenInput {
  /** Each scope includes the ones before it: `read`, `write`, `admin`. */
  readonly scope: AccessScope;
  /** The actor of writes with it. Default: none. */
  readonly actor?: string;
  /** Further actors that it may write as: at most 100 names, or `"any"`. Default: none. */
  readonly actAs?: readonly string[] | "any";
  /** A name for lists. */
  readonly label?: string;
  /** Expiry. Default: never. */
  readonly expires?: number | Date;
  /** Whether it may act on the whole store; only with the scope `admin`. */
  readonly operator?: boolean;
}

export interface CreatedToken {
  /** The token's text: given once and not stored. */
  readonly token: string;
  readonly record: AccessToken;
}

export interface ListTokensInput {
  /** The last token of the previous page. */
  readonly after?: string;
  /** At most 500. Default 50. */
  readonly limit?: number;
}

export async function createToken(
  engine: EngineContext,
  input: CreateTokenInput,
): Promise<CreatedToken> {
  const {
    actor,
    actAs = [],
    label,
    expires,
    operator = false,
  } = checkInput(input, "token", INPUTS.createToken);
  const held = checkOneOf(input.scope, ACCESS_SCOPES, "scope");
  if (operator && held !== "admin") {
    throw invalid(
      "operator",
      "operator needs the scope admin; ask for that, or leave operator out",
    );
  }
  const now = engine.now();
  const [id, secret] = [engine.newId(), newSecret()];
  const token = {
    id,
    secretHash: hashSecret(secret),
    scope: held,
    actor: actor === undefined ? null : checkName(actor, "actor"),
    actAs: checkActAs(actAs),
    operator,
    label: label === undefined ? null : checkName(label, "label"),
    createdAt: now,
    expiresAt: expires === undefined ? null : checkExpiry(expires, now),
  };
  const record = await engine.store.createToken(engine.tenant, token, engine.by);
  return { token: formatToken(id, secret), record };
}

export async function listTokens(
  engine: EngineContext,
  input: ListTokensInput,
): Promise<readonly AccessToken[]> {
  const { after, limit } = checkInput(input, "input", INPUTS.listTokens);
  return engine.store.listTokens(engine.tenant, after, checkLimit(limit));
}

export async function revokeToken(engine: EngineContext, id: string): Promise<AccessToken> {
  return engine.store.revokeToken(engine.tenant, checkKey(id, "id"), engine.now(), engine.by);
}

function checkActAs(value: unknown): Access["actAs"] {
  if (value === "any") return "any";
  const names = checkList(value as readonly string[], "actAs").map((name, i) =>
    checkName(name, `actAs[${i}]`),
  );
  if (names.length > MAX_ACT_AS) {
    throw tooLarge("actAs", MAX_ACT_AS, names.length, 'use "any", or several tokens');
  }
  return [...new Set(names)];
}

function checkExpiry(value: unknown, now: number): number {
  const time = checkTime(value, "expires");
  if (Number.isNaN(new Date(time).getTime()) || time <= now) {
    throw invalid(
      "expires",
      "expires must be in the future; leave it out for a token that does not expire",
    );
  }
  return time;
}
