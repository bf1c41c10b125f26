import { expect, test } from "vitest";
import { staysOnMachine } from "./loopback.ts";

test.each([
  ["127.0.0.1", {}, true],
  ["127.8.0.1", {}, true],
  ["::1", {}, true],
  ["::ffff:127.0.0.1", {}, true],
  ["192.168.0.7", {}, false],
  ["::ffff:10.0.0.1", {}, false],
  [undefined, {}, false],
  ["127.0.0.1", { "x-forwarded-for": "10.1.2.3" }, false],
  ["127.0.0.1", { forwarded: "for=10.1.2.3" }, false],
  ["::1", { via: "1.1 proxy" }, false],
] as const)("an answer to %s with %o stays on the machine: %s", (address, headers, stays) => {
  expect(staysOnMachine(address, new Headers(headers))).toBe(stays);
});
