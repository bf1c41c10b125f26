import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  BRANCH_KINDS,
  formatSessionKey,
  GROUP_KINDS,
  normalizeAgentId,
  type PlaceKey,
  parentKey,
  parseSessionKey,
  type SessionKey,
  subagentDepth,
} from "./session-key.ts";

/** A key's text and its structure, in both directions. */
const TABLE: readonly (readonly [string, SessionKey])[] = [
  ["agent:main:main", key({ kind: "main", name: "main" })],
  ["agent:main:home", key({ kind: "main", name: "home" })],
  ["agent:main:direct:4711", key({ kind: "direct", peer: "4711" })],
  ["agent:main:telegram:direct:4711", key({ kind: "direct", channel: "telegram", peer: "4711" })],
  [
    "agent:main:telegram:work:direct:+436641234",
    key({ kind: "direct", channel: "telegram", account: "work", peer: "+436641234" }),
  ],
  ["agent:main:whatsapp:group:12@g.us", key({ kind: "group", channel: "whatsapp", id: "12@g.us" })],
  ["agent:main:discord:channel:99", key({ kind: "channel", channel: "discord", id: "99" })],
  [
    "agent:main:matrix:room:!AbC%3Aexample.org",
    key({ kind: "room", channel: "matrix", id: "!AbC:example.org" }),
  ],
  [
    "agent:main:slack:channel:C042:thread:1712.55",
    key({ kind: "channel", channel: "slack", id: "C042" }, ["thread", "1712.55"]),
  ],
  [
    "agent:main:telegram:group:-100:topic:7",
    key({ kind: "group", channel: "telegram", id: "-100" }, ["topic", "7"]),
  ],
  ["agent:main:main:thread:5", key({ kind: "main", name: "main" }, ["thread", "5"])],
  ["agent:main:cron:nightly", key({ kind: "cron", id: "nightly" })],
  ["agent:main:cron:nightly:run:8", key({ kind: "cron", id: "nightly" }, ["run", "8"])],
  ["agent:main:subagent:a1", key({ kind: "subagent", id: "a1" })],
  ["agent:main:subagent:a1:subagent:b2", key({ kind: "subagent", id: "a1" }, ["subagent", "b2"])],
  ["cron:nightly", { ...key({ kind: "cron", id: "nightly" }), agent: null }],
  ["hook:5d0e", { ...key({ kind: "hook", id: "5d0e" }), agent: null }],
  ["global", { alias: "global" }],
  ["node-3", { alias: "node-3" }],
];

function key(place: PlaceKey["place"], ...branches: [string, string][]): PlaceKey {
  const all = branches.map(([kind, id]) => ({ kind, id }) as PlaceKey["branches"][number]);
  return { agent: "main", place, branches: all };
}

describe("session keys", () => {
  test.each(TABLE)("%s", (text, parsed) => {
    expect(parseSessionKey(text)).toEqual(parsed);
    expect(formatSessionKey(parsed)).toBe(text);
  });

  test("are parsed in the older spelling, and written in the newer", () => {
    for (const [old, now] of [
      ["agent:main:dm:5", "agent:main:direct:5"],
      ["agent:main:telegram:dm:5", "agent:main:telegram:direct:5"],
      ["agent:main:telegram:work:dm:5", "agent:main:telegram:work:direct:5"],
    ] as const) {
      expect(formatSessionKey(parseSessionKey(old))).toBe(now);
    }
  });

  test.each(["", "agent:", "agent:main", "agent:main:", "agent::main", "agent:main:a:b", "cron:"])(
    "%j is refused",
    (text) => {
      expect(() => parseSessionKey(text)).toThrow(
        expect.objectContaining({ code: "invalid_input" }),
      );
    },
  );

  test("are bounded in size", () => {
    const long = key({ kind: "direct", peer: "ä".repeat(1_000) });
    expect(() => formatSessionKey(long)).toThrow(expect.objectContaining({ code: "too_large" }));
    expect(() => parseSessionKey("x".repeat(2_049))).toThrow(/at most 2048/);
  });

  test("keep peers distinct whose ids differ in case, a colon or a space", () => {
    const peers = [
      "U042",
      "u042",
      "a:b",
      "a%3Ab",
      "a b",
      "a%20b",
      "a",
      "direct:a",
      "a:thread:5",
      "ü",
    ];
    const texts = peers.map((peer) =>
      formatSessionKey(key({ kind: "direct", channel: "slack", peer })),
    );
    expect(new Set(texts).size).toBe(peers.length);
    expect(texts.map((text) => parseSessionKey(text))).toEqual(
      peers.map((peer) => key({ kind: "direct", channel: "slack", peer })),
    );
  });

  test("exclude text that no database can hold", () => {
    for (const peer of ["\ud800", "a\0b", "", "  "]) {
      expect(() => formatSessionKey(key({ kind: "direct", peer }))).toThrow(
        expect.objectContaining({ code: "invalid_input" }),
      );
    }
  });

  test("give their parent, and the depth of sub-agents", () => {
    const text = "agent:main:slack:channel:C042:thread:17";
    const parent = parentKey(parseSessionKey(text));
    expect(formatSessionKey(parent as SessionKey)).toBe("agent:main:slack:channel:C042");
    expect(parentKey(parent as SessionKey)).toBeUndefined();
    expect(parentKey({ alias: "global" })).toBeUndefined();
    const deep = "agent:main:main:subagent:a:subagent:b";
    expect([text, deep, "global"].map((each) => subagentDepth(parseSessionKey(each)))).toEqual([
      0, 2, 0,
    ]);
  });

  test("are unambiguous for any ids", () => {
    const words = ["direct", "dm", "group", "thread", "run", "cron", "agent", "a:b", "ü ", "%3a"];
    const id = fc
      .oneof(fc.constantFrom(...words), fc.string({ minLength: 1, maxLength: 8, unit: "binary" }))
      .map((text) => text.toWellFormed().replaceAll("\0", "").trim())
      .filter((text) => text !== "");
    const name = id.map((text) => text.toLowerCase().trim()).filter((text) => text !== "");
    const place: fc.Arbitrary<PlaceKey["place"]> = fc.oneof(
      fc.record({ kind: fc.constant("main" as const), name }),
      fc.record({ kind: fc.constant("direct" as const), peer: id }),
      fc.record({ kind: fc.constant("direct" as const), channel: name, peer: id }),
      fc.record({ kind: fc.constant("direct" as const), channel: name, account: id, peer: id }),
      fc.record({ kind: fc.constantFrom(...GROUP_KINDS), channel: name, id }),
      fc.record({ kind: fc.constantFrom("cron" as const, "hook" as const), id }),
      fc.record({ kind: fc.constant("subagent" as const), id }),
    );
    const branch = fc.record({ kind: fc.constantFrom(...BRANCH_KINDS), id });
    const branches = fc.array(branch, { maxLength: 3 });
    const agent = fc.constantFrom("main", "coder", "a-1");
    fc.assert(
      fc.property(fc.record({ agent, place, branches }), (any) => {
        expect(parseSessionKey(formatSessionKey(any))).toEqual(any);
      }),
      { numRuns: 1_000 },
    );
  });
});

test("an agent's name is normalised", () => {
  const names = ["Main", " My Coder! ", "Ünïcode", "--", "", "a".repeat(70), "a_b-c"];
  expect(names.map(normalizeAgentId)).toEqual([
    "main",
    "my-coder",
    "n-code",
    "main",
    "main",
    "a".repeat(64),
    "a_b-c",
  ]);
  const cutAtDash = normalizeAgentId(`${"a".repeat(63)} b`);
  expect(cutAtDash).toBe("a".repeat(63));
  expect(normalizeAgentId(cutAtDash)).toBe(cutAtDash);
});
