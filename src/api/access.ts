/** The caller's access, as a server reports it. */

import type { Access, AccessScope } from "../model/access.ts";

export interface WireAccess {
  readonly server: "backscroll";
  readonly tenant: string;
  readonly scope: AccessScope;
  readonly actor: string | null;
  /** May act on the whole store. */
  readonly operator: boolean;
}

export function toWireAccess({ tenant, scope, actor, operator }: Access): WireAccess {
  return { server: "backscroll", tenant, scope, actor, operator };
}
