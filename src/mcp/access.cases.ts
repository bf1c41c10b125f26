/** The access of MCP callers in tests. */

import type { Access } from "../model/access.ts";

export const READ_ACCESS: Access = {
  tenant: "default",
  scope: "read",
  actor: null,
  actAs: "any",
  operator: true,
  tokenId: null,
};
