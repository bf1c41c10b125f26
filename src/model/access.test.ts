import { describe, expect, test } from "vitest";
import { ACCESS_SCOPES, type Access, actorFor, requireOperator, requireScope } from "./access.ts";

function access(over: Partial<Access> = {}): Access {
  return {
    tenant: "acme",
    scope: "read",
    actor: null,
    actAs: [],
    operator: false,
    tokenId: "t",
    ...over,
  };
}

describe("access", () => {
  test("includes its scope and all lower ones", () => {
    const reached = ACCESS_SCOPES.map((scope) =>
      ACCESS_SCOPES.map((needed) => {
        try {
          requireScope(access({ scope }), needed);
          return "yes";
        } catch (error) {
          return (error as { code: string }).code;
        }
      }),
    );
    expect(reached).toEqual([
      ["yes", "forbidden", "forbidden"],
      ["yes", "yes", "forbidden"],
      ["yes", "yes", "yes"],
    ]);
    const later = access({ scope: "of a later version" as never });
    expect(() => requireScope(later, "read")).toThrow("needs the scope read");
  });

  test("covers the whole store only for an operator, in every scope", () => {
    expect(requireOperator(access({ operator: true, scope: "admin" }))).toBeUndefined();
    const tenantAdmin = () => requireOperator(access({ scope: "admin" }));
    expect(tenantAdmin).toThrow(expect.objectContaining({ code: "forbidden" }));
  });

  test("writes as itself, or as its permitted actors", () => {
    const ci = access({ actor: "ci", actAs: ["ana"] });
    expect(actorFor(ci, undefined)).toBe("ci");
    expect(actorFor(ci, "ci")).toBe("ci");
    expect(actorFor(ci, "ana")).toBe("ana");
    expect(() => actorFor(ci, "bob")).toThrow(expect.objectContaining({ code: "forbidden" }));
    expect(actorFor(access({ actAs: "any" }), "bob")).toBe("bob");
    expect(actorFor(access(), undefined)).toBeUndefined();
  });
});
