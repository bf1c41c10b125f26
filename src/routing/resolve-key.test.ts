import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  DM_SCOPES,
  type KeySettings,
  linkedIdentity,
  type Origin,
  resolveSessionKey,
} from "./resolve-key.ts";

const SETTINGS: KeySettings = {
  dmScope: "per-channel-peer",
  mainKey: "main",
  identityLinks: {},
};

function keyOf(origin: Partial<Origin>, settings: Partial<KeySettings> = {}): string {
  return resolveSessionKey({ agent: "main", ...origin }, { ...SETTINGS, ...settings });
}

describe("direct messages", () => {
  const ana = { channel: "Telegram", account: "work", peer: "4711" };

  test.each([
    ["main", "agent:main:main"],
    ["per-peer", "agent:main:direct:4711"],
    ["per-channel-peer", "agent:main:telegram:direct:4711"],
    ["per-account-channel-peer", "agent:main:telegram:work:direct:4711"],
  ] as const)("of the scope %s", (dmScope, key) => {
    expect(keyOf(ana, { dmScope })).toBe(key);
  });

  test("without a person go to the main conversation", () => {
    for (const dmScope of DM_SCOPES) {
      for (const peer of [undefined, "", "  "]) {
        const origin = { channel: "telegram", ...(peer === undefined ? {} : { peer }) };
        expect(keyOf(origin, { dmScope })).toBe("agent:main:main");
        expect(keyOf(origin, { dmScope, mainKey: "Home" })).toBe("agent:main:home");
      }
    }
  });

  test("of two people are separate by default, also across channels", () => {
    const keys = [
      ...["U042", "u042", "U042 x"].map((peer) => keyOf({ channel: "slack", peer })),
      keyOf({ channel: "teams", peer: "U042" }),
    ];
    expect(new Set(keys).size).toBe(4);
  });

  test("have placeholders for a missing channel and account", () => {
    expect(keyOf({ peer: "5" })).toBe("agent:main:unknown:direct:5");
    expect(keyOf({ peer: "5" }, { dmScope: "per-account-channel-peer" })).toBe(
      "agent:main:unknown:default:direct:5",
    );
  });
});

describe("groups, channels and rooms", () => {
  test.each([
    [{ chatType: "group", channel: "whatsapp", peer: "12@g.us" }, "whatsapp:group:12@g.us"],
    [{ chatType: "channel", channel: "slack", peer: "C042" }, "slack:channel:C042"],
    [{ chatType: "room", channel: "matrix", peer: "!a:b" }, "matrix:room:!a%3Ab"],
    [{ chatType: "group" }, "unknown:group:unknown"],
    [
      { chatType: "channel", channel: "slack", peer: "C", thread: "17" },
      "slack:channel:C:thread:17",
    ],
    [
      { chatType: "group", channel: "telegram", peer: "-1", topic: "7" },
      "telegram:group:-1:topic:7",
    ],
    [{ chatType: "direct", channel: "slack", peer: "U", thread: "9" }, "slack:direct:U:thread:9"],
  ] as const)("%j", (origin, key) => {
    for (const dmScope of DM_SCOPES) {
      if (origin.chatType === "direct" && dmScope !== "per-channel-peer") continue;
      expect(keyOf(origin, { dmScope })).toBe(`agent:main:${key}`);
    }
  });
});

describe("identity links", () => {
  const identityLinks = {
    ana: ["telegram:4711", "Slack:U042", " 99 "],
    ben: ["4711"],
    " ": ["5"],
  };

  test.each([
    ["match by channel and id", { channel: "telegram", peer: "4711" }, "ana"],
    ["ignore the case of the channel", { channel: "SLACK", peer: "U042" }, "ana"],
    ["match by the bare id, on any channel", { channel: "signal", peer: "99" }, "ana"],
    ["match the first entry", { channel: "signal", peer: "4711" }, "ben"],
    ["respect the case of an id", { channel: "slack", peer: "u042" }, "u042"],
    ["ignore a person with a blank name", { channel: "slack", peer: "5" }, "5"],
    ["ignore a linked name that a stranger chose", { channel: "irc", peer: "ana" }, "irc%3Aana"],
    [
      "ignore a linked name after another channel",
      { channel: "irc", peer: "slack:ana" },
      "irc%3Aslack%3Aana",
    ],
    [
      "ignore a channel and id in one peer",
      { channel: "irc", peer: "telegram:4711" },
      "telegram%3A4711",
    ],
  ])("%s", (_name, origin, peer) => {
    expect(keyOf(origin, { dmScope: "per-peer", identityLinks })).toBe(`agent:main:direct:${peer}`);
  });

  test("keep strangers out of a person's conversation in every scope", () => {
    for (const dmScope of ["per-peer", "per-channel-peer", "per-account-channel-peer"] as const) {
      const of = (peer: string) =>
        keyOf({ channel: "telegram", peer }, { dmScope, identityLinks: { ana: ["telegram:1"] } });
      const keys = ["1", "ana", " ana", "telegram:ana", "telegram:1"].map(of);
      expect(keys[2]).toBe(keys[1]);
      expect(new Set(keys).size).toBe(4);
    }
  });

  test("may name a person with a colon, without a collision", () => {
    const links = { "irc:ana": ["telegram:1"], ana: ["telegram:2"] };
    const of = (channel: string, peer: string) =>
      keyOf({ channel, peer }, { dmScope: "per-peer", identityLinks: links });
    expect(of("telegram", "1")).toBe("agent:main:direct:irc%3Aana");
    expect(of("irc", "ana")).toBe("agent:main:direct:%3Airc%3Aana");
    expect(of("irc", "irc:ana")).toBe("agent:main:direct:irc%3Airc%3Aana");
    expect(of("irc", "irc:irc:ana")).toBe("agent:main:direct:irc%3Airc%3Airc%3Aana");
  });

  test("never merge two people, with any names", () => {
    const letters = fc.array(fc.constantFrom("a", "b", ":", "%"), { maxLength: 4 });
    const text = fc.oneof(
      fc.constantFrom("a", "b", "a:a", "a:b", "a:a:b", ":a", ":a:b"),
      letters.map((each) => each.join("")),
    );
    const links = fc.dictionary(text, fc.array(text, { maxLength: 2 }), { maxKeys: 3 });
    const person = fc.record({ channel: fc.constantFrom("a", "b"), peer: text });
    fc.assert(
      fc.property(links, person, person, (identityLinks, one, other) => {
        fc.pre(one.peer !== "" && other.peer !== "");
        const keys = [one, other].map((origin) =>
          keyOf(origin, { dmScope: "per-channel-peer", identityLinks }),
        );
        const linked = [one, other].map(({ channel, peer }) =>
          linkedIdentity(identityLinks, channel, peer),
        );
        const isOne =
          one.channel === other.channel &&
          (linked[0] === undefined ? one.peer === other.peer : linked[0] === linked[1]);
        expect(keys[0] === keys[1]).toBe(isOne);
      }),
      { numRuns: 3_000 },
    );
  });

  test("have no effect where all share one conversation", () => {
    const ana = { channel: "telegram", peer: "4711" };
    expect(keyOf(ana, { dmScope: "main", identityLinks })).toBe("agent:main:main");
  });
});
