/** Access tokens. */

import type { AccessToken } from "../../../model/access.ts";
import type { ChangeAuthor } from "../../../model/change.ts";
import { tokenChanged } from "../../plan/new-changes.ts";
import type { NewToken, TokenRecord } from "../../requests.ts";
import { createdToken, TOKEN_COLUMNS, toToken } from "../../rows/token-row.ts";
import { tokenNotFound } from "../../store-errors.ts";
import { query } from "../postgres-driver.ts";
import { statements } from "../postgres-statements.ts";
import type { Transaction } from "../transaction.ts";
import { ensureTenant, writeFeed } from "./feed.ts";

const SQL = statements("tokens", {
  create: `INSERT INTO access_tokens (tenant, id, secret_hash, scope, actor, act_as, operator, label,
      created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
  revoke: `UPDATE access_tokens SET revoked_at = $3
    WHERE tenant = $1 AND id = $2 AND revoked_at IS NULL RETURNING id`,
  read: `SELECT ${TOKEN_COLUMNS} FROM access_tokens k WHERE k.tenant = $1 AND k.id = $2`,
  list: `SELECT ${TOKEN_COLUMNS} FROM access_tokens k WHERE k.tenant = $1 AND k.id > $2
    ORDER BY k.id LIMIT $3`,
  /** Lets row-level security show this one token, of any tenant, in this transaction. */
  name: `SELECT set_config('backscroll.token', $1, true)`,
  find: `SELECT ${TOKEN_COLUMNS}, k.secret_hash, n.name AS tenant_name FROM access_tokens k
    JOIN tenants n ON n.tenant = k.tenant WHERE k.id = $1`,
});

export async function createToken(
  tx: Transaction,
  token: NewToken,
  by?: ChangeAuthor,
): Promise<AccessToken> {
  await ensureTenant(tx, token.createdAt);
  tx.defer(
    SQL.create,
    tx.tenant,
    token.id,
    token.secretHash,
    token.scope,
    token.actor,
    JSON.stringify(token.actAs),
    token.operator ? 1 : 0,
    token.label,
    token.createdAt,
    token.expiresAt,
  );
  const created = createdToken(token, tx.name);
  writeFeed(tx, [tokenChanged("token_created", created, token.createdAt, by)]);
  return created;
}

export async function revokeToken(
  tx: Transaction,
  id: string,
  now: number,
  by?: ChangeAuthor,
): Promise<AccessToken> {
  const [revoked, [row] = []] = await tx.together([
    query(SQL.revoke, tx.tenant, id, now),
    query(SQL.read, tx.tenant, id),
  ]);
  if (row === undefined) throw tokenNotFound(id);
  const token = toToken(row, tx.name);
  if (revoked?.[0] !== undefined) writeFeed(tx, [tokenChanged("token_revoked", token, now, by)]);
  return token;
}

/** `tx` has no tenant: the token identifies it. */
export async function findToken(tx: Transaction, id: string): Promise<TokenRecord | undefined> {
  tx.defer(SQL.name, id);
  const row = await tx.get(SQL.find, id);
  if (row === undefined) return undefined;
  return {
    token: toToken(row, String(row["tenant_name"])),
    secretHash: row["secret_hash"] as Uint8Array,
  };
}

export async function listTokens(
  tx: Transaction,
  after: string | undefined,
  limit: number,
): Promise<AccessToken[]> {
  const rows = await tx.all(SQL.list, tx.tenant, after ?? "", limit);
  return rows.map((row) => toToken(row, tx.name));
}
