import { describe, expect, test } from "vitest";
import { parseAddress } from "./postgres-address.ts";

describe("an address", () => {
  test("of one host is itself, and is shown without its password", () => {
    expect(parseAddress("postgres://ana:s%40cret@db:5433/store?sslmode=require")).toEqual({
      hosts: ["postgres://ana:s%40cret@db:5433/store?sslmode=require"],
      role: undefined,
      shown: "postgres://ana@db:5433/store",
    });
  });

  test("of several hosts is one address each, without the role parameter", () => {
    const address =
      "postgresql://ana:pw@db-1:5432,db-2,[::1]:5434/store?target_session_attrs=read-write&sslmode=no-verify";
    expect(parseAddress(address)).toEqual({
      hosts: [
        "postgresql://ana:pw@db-1:5432/store?sslmode=no-verify",
        "postgresql://ana:pw@db-2/store?sslmode=no-verify",
        "postgresql://ana:pw@[::1]:5434/store?sslmode=no-verify",
      ],
      role: "primary",
      shown: "postgresql://ana@db-1:5432,db-2,[::1]:5434/store",
    });
  });

  test.each([
    ["read-write", "primary"],
    ["primary", "primary"],
    ["standby", "standby"],
    ["read-only", "standby"],
    ["prefer-standby", "prefer-standby"],
    ["any", "any"],
  ])("may require the role %s", (word, role) => {
    expect(parseAddress(`postgres://a,b/store?target_session_attrs=${word}`).role).toBe(role);
  });

  test("that is invalid is refused without showing its password", () => {
    expect(() => parseAddress("postgres://u:secret@a,b/d?target_session_attrs=fast")).toThrow(
      /must be one of read-write, primary, .* not "fast"/,
    );
    for (const address of ["postgres://u:secret@a:port/d", "postgres://u:secret@a,b:99999999/d"]) {
      expect(() => parseAddress(address)).toThrow(/^(?!.*secret).*postgres:\/\/user:password@host/);
    }
  });
});
