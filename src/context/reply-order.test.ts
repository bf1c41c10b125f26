import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Entry } from "../model/entry.ts";
import { calls, pathOf, results, says } from "./entries.cases.ts";
import { orderForReply } from "./turns.ts";

const to = (id: string) => ({ metadata: { replyTo: id } });
const ids = (entries: readonly Entry[]) => entries.map(({ id }) => id).join(" ");

/** The order of `entries` for answering the entry with the id. */
function check(entries: readonly Entry[], id: string, expected: string): void {
  const message = entries.find((entry) => entry.id === id) as Entry;
  expect(ids(orderForReply(entries, message))).toBe(expected);
}

describe("the answered message", () => {
  test("stays in place while nothing follows it", () => {
    const path = pathOf(
      says("user", "a"),
      says("assistant", "b"),
      says("user", "c"),
      calls("x"),
      results({ x: "1" }),
      says("user", "a note", { kind: "custom_message" }),
    );
    const own = path.map((entry) => (entry.id === "e4" ? { ...entry, ...to("e3") } : entry));
    check(own, "e3", "e1 e2 e3 e4 e5 e6");
  });

  test("moves behind the answers to others, and waiting messages are left out", () => {
    const path = pathOf(
      says("user", "price?", { id: "u1" }),
      says("user", "colour?", { id: "u2" }),
      says("assistant", "5", { id: "a1", ...to("u1") }),
    );
    check(path, "u1", "u1 a1");
    check(path, "u2", "u1 a1 u2");
  });

  test("keeps its own steps after it, also those of a failed attempt", () => {
    const path = pathOf(
      says("user", "price?", { id: "u1" }),
      { ...calls("x"), id: "s1", ...to("u1") },
      { ...results({ x: "1" }), id: "r1" },
      says("user", "colour?", { id: "u2" }),
      { ...calls("x"), id: "s2", ...to("u2") },
      { ...results({ x: "2" }), id: "r2" },
      says("assistant", "red", { id: "a2", ...to("u2") }),
      says("user", "size?", { id: "u3" }),
    );
    check(path, "u1", "u2 s2 r2 a2 u1 s1 r1");
    check(path, "u3", "u1 s1 r1 u2 s2 r2 a2 u3");
  });

  test("is added if it is missing, unless it is erased", () => {
    const [old, ...path] = pathOf(says("user", "a"), says("user", "b"), says("assistant", "c"));
    expect(ids(orderForReply(path, old as Entry))).toBe("e2 e3 e1");
    expect(ids(orderForReply(path, { ...(old as Entry), erased: true }))).toBe("e2 e3");
  });
});

test("each entry appears once, and only waiting messages are left out", () => {
  const roles = fc.constantFrom("user", "assistant");
  const said = fc.record({ role: roles, answers: fc.nat(5) });
  fc.assert(
    fc.property(fc.array(said, { minLength: 1, maxLength: 12 }), fc.nat(), (list, pick) => {
      const path = pathOf(
        ...list.map(({ role, answers }) =>
          role === "user" ? says("user", "q") : says("assistant", "a", to(`e${answers}`)),
        ),
      );
      const users = path.filter(({ role }) => role === "user");
      const message = users[pick % users.length];
      if (message === undefined) return;
      const order = orderForReply(path, message);
      expect(new Set(order).size).toBe(order.length);
      const left = path.filter((entry) => !order.includes(entry));
      expect(left.filter(({ role, index }) => role !== "user" || index === message.index)).toEqual(
        [],
      );
      const at = order.indexOf(message);
      const own = path.filter(({ metadata }) => metadata["replyTo"] === message.id);
      expect(order.slice(at + 1)).toEqual(
        own.filter(({ sequence }) => sequence > message.sequence),
      );
    }),
  );
});
