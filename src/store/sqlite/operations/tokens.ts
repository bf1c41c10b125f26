/** Access tokens. */

import type { AccessToken } from "../../../model/access.ts";
import type { ChangeAuthor } from "../../../model/change.ts";
import { tokenChanged } from "../../plan/new-changes.ts";
import type { NewToken, TokenRecord } from "../../requests.ts";
import { createdToken, TOKEN_COLUMNS, toToken } from "../../rows/token-row.ts";
import { tokenNotFound } from "../../store-errors.ts";
import type { SqliteConnection } from "../sqlite-driver.ts";
import { statements } from "../sqlite-statements.ts";
import { ensureTenant, findTenant, writeFeed } from "./feed.ts";

const SQL = statements("tokens", {
  create: `INSERT INTO access_tokens (tenant, id, secret_hash, scope, actor, act_as, operator, label,
      created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  revoke: `UPDATE access_tokens SET revoked_at = ?
    WHERE tenant = ? AND id = ? AND revoked_at IS NULL`,
  read: `SELECT ${TOKEN_COLUMNS} FROM access_tokens k WHERE k.tenant = ? AND k.id = ?`,
  list: `SELECT ${TOKEN_COLUMNS} FROM access_tokens k WHERE k.tenant = ? AND k.id > ?
    ORDER BY k.id LIMIT ?`,
  find: `SELECT ${TOKEN_COLUMNS}, k.secret_hash, n.name AS tenant_name FROM access_tokens k
    JOIN tenants n ON n.tenant = k.tenant WHERE k.id = ?`,
});

export function createToken(
  db: SqliteConnection,
  name: string,
  token: NewToken,
  by?: ChangeAuthor,
): AccessToken {
  const tenant = ensureTenant(db, name, token.createdAt);
  db.run(
    SQL.create,
    tenant,
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
  const created = createdToken(token, name);
  writeFeed(db, tenant, [tokenChanged("token_created", created, token.createdAt, by)]);
  return created;
}

export function revokeToken(
  db: SqliteConnection,
  name: string,
  id: string,
  now: number,
  by?: ChangeAuthor,
): AccessToken {
  const tenant = findTenant(db, name);
  if (tenant === undefined) throw tokenNotFound(id);
  const isNews = db.run(SQL.revoke, now, tenant, id) === 1;
  const row = db.get(SQL.read, tenant, id);
  if (row === undefined) throw tokenNotFound(id);
  const token = toToken(row, name);
  if (isNews) writeFeed(db, tenant, [tokenChanged("token_revoked", token, now, by)]);
  return token;
}

export function findToken(db: SqliteConnection, id: string): TokenRecord | undefined {
  const row = db.get(SQL.find, id);
  if (row === undefined) return undefined;
  return {
    token: toToken(row, String(row["tenant_name"])),
    secretHash: row["secret_hash"] as Uint8Array,
  };
}

export function listTokens(
  db: SqliteConnection,
  name: string,
  after: string | undefined,
  limit: number,
): AccessToken[] {
  const tenant = findTenant(db, name);
  if (tenant === undefined) return [];
  return db.all(SQL.list, tenant, after ?? "", limit).map((row) => toToken(row, name));
}
