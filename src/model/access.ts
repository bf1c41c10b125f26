/**
 * A caller's access: tenant, scope, and the actors that it may write as. Derived from the token or
 * the loopback address, never from the request.
 */

import { BackscrollError } from "./errors.ts";
import type { FieldsOf } from "./shape.ts";

/** Each includes the ones before it. */
export const ACCESS_SCOPES = ["read", "write", "admin"] as const;

export type AccessScope = (typeof ACCESS_SCOPES)[number];

export interface Access {
  readonly tenant: string;
  readonly scope: AccessScope;
  /** The default actor; null if any name is allowed, as on loopback. */
  readonly actor: string | null;
  /** Further actors that it may write as. */
  readonly actAs: readonly string[] | "any";
  /** Whether it may act on the whole store: copy, restore, verify every tenant. */
  readonly operator: boolean;
  /** The token's id; null without one. */
  readonly tokenId: string | null;
}

export function includesScope(held: AccessScope, needed: AccessScope): boolean {
  return ACCESS_SCOPES.indexOf(held) >= ACCESS_SCOPES.indexOf(needed);
}

/** Throws `forbidden` unless the caller has the scope `needed`. */
export function requireScope(access: Access, needed: AccessScope): void {
  if (includesScope(access.scope, needed)) return;
  throw new BackscrollError(
    "forbidden",
    `this needs the scope ${needed}, and the token has ${access.scope}; ask for another token`,
    { details: { needed, scope: access.scope } },
  );
}

/** Throws `forbidden` unless the caller is an operator. */
export function requireOperator(access: Access): void {
  if (access.operator) return;
  throw new BackscrollError(
    "forbidden",
    "this concerns the whole store, and the token is for one tenant; use a token created with --operator",
    { details: { needed: "operator", scope: access.scope } },
  );
}

/** Throws `forbidden` unless the caller may write as any actor, as imports need. */
export function requireAnyActor(access: Access): void {
  if (access.actAs === "any") return;
  throw new BackscrollError(
    "forbidden",
    "this stores messages of other actors, and the token may not write as every actor; use a token created with --act-as any",
    { details: { field: "act_as" } },
  );
}

/** The actor: the named one if the caller may act as it, else the caller's own. */
export function actorFor(access: Access, named: string | undefined): string | undefined {
  if (named === undefined) return access.actor ?? undefined;
  if (named === access.actor || access.actAs === "any" || access.actAs.includes(named)) {
    return named;
  }
  throw new BackscrollError(
    "forbidden",
    `the token may not write for "${named.slice(0, 80)}"; leave the actor out, or use a token created with --act-as`,
    { details: { field: "actor" } },
  );
}

/** A share token opens one session for reading; the API refuses it. */
export const SHARE_SCOPE = "share";

const TOKEN_SCOPES = ["read", "write", "admin", "share"] as const;

export const ACCESS_TOKEN = {
  id: "text",
  tenant: "text",
  scope: { one: TOKEN_SCOPES as typeof TOKEN_SCOPES },
  actor: "text|null",
  /** Names, or `"any"`. */
  actAs: "actors",
  operator: "flag",
  /** A label; for a share, the session's id. */
  label: "text|null",
  createdAt: "time",
  /** Expiry; null: never. */
  expiresAt: "time|null",
  revokedAt: "time|null",
} as const;

/** A token without its secret. */
export interface AccessToken extends FieldsOf<typeof ACCESS_TOKEN> {}
