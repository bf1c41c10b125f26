/** Access tokens. */

import type { AccessToken } from "../../model/access.ts";
import type { ChangeAuthor } from "../../model/change.ts";
import { tokenChanged } from "../plan/new-changes.ts";
import type { NewToken } from "../requests.ts";
import { tokenNotFound } from "../store-errors.ts";
import type { Program, ProgramPort } from "./port.ts";
import { type TOKENS_SQL, toToken } from "./tables.ts";

type Port = ProgramPort<keyof typeof TOKENS_SQL>;

export function* createToken(port: Port, token: NewToken, by?: ChangeAuthor): Program<AccessToken> {
  const { secretHash, ...rest } = token;
  const { id, scope, actor, operator, label, createdAt, expiresAt } = rest;
  yield* port.ensureTenant(createdAt);
  const actAs = JSON.stringify(token.actAs);
  const isOperator = operator ? 1 : 0;
  port.run("create", id, secretHash, scope, actor, actAs, isOperator, label, createdAt, expiresAt);
  const created = { ...rest, tenant: port.tenant, revokedAt: null };
  port.writeFeed([tokenChanged("token_created", created, createdAt, by)]);
  return created;
}

export function* revokeToken(
  port: Port,
  id: string,
  now: number,
  by?: ChangeAuthor,
): Program<AccessToken> {
  const [revoked = [], [row] = []] = yield* port.together(["revoke", id, now], ["read", id]);
  if (row === undefined) throw tokenNotFound(id);
  const token = toToken(row, port.tenant);
  if (revoked.length > 0) port.writeFeed([tokenChanged("token_revoked", token, now, by)]);
  return token;
}

export function* listTokens(
  port: Port,
  after: string | undefined,
  limit: number,
): Program<AccessToken[]> {
  const rows = yield* port.rows("list", after ?? "", limit);
  return rows.map((row) => toToken(row, port.tenant));
}
