import type { Access } from "../../src/model/access.ts";

const caller = (access: Partial<Access>): Access => ({
  tenant: "acme",
  scope: "write",
  actor: null,
  actAs: "any",
  operator: false,
  tokenId: "t",
  ...access,
});
/** All of one tenant, except the last. */
export const CALLERS: Readonly<Record<"writer" | "reader" | "coder" | "stranger", Access>> = {
  writer: caller({}),
  reader: caller({ scope: "read" }),
  coder: caller({ actor: "coder", actAs: ["bob"] }),
  stranger: caller({ tenant: "other" }),
};
