import { describe, expect, test } from "vitest";
import type { Block } from "../../model/block.ts";
import type { Role } from "../../model/entry.ts";
import type { ContextMessage } from "../chat-model.ts";
import { readTurns } from "./prepare-turns.ts";
import { COMMON_MEDIA_TYPES, type ProviderRules } from "./rules.ts";

const RULES: ProviderRules = {
  thoughts: ["anthropic"],
  thoughtMayEnd: false,
  opaqueNames: ["anthropic"],
  takesOpaque: ({ type }, role) => (type === "document") === (role === "user"),
  images: {
    mediaTypes: COMMON_MEDIA_TYPES,
    url: /^https:/,
    fromAssistant: false,
    inResults: "all",
  },
  toolId: { characters: "word", maxLength: 64, exactLength: false },
  toolName: { refused: /[^a-zA-Z0-9_-]/gu, startsWithLetter: true, maxLength: 12 },
  startsWithUser: true,
  assistantAfterTool: false,
};

function message(role: Role, ...blocks: (Block | string)[]): ContextMessage {
  return {
    role,
    actor: null,
    blocks: blocks.map((block) =>
      typeof block === "string" ? { type: "text", text: block } : block,
    ),
    part: "recent",
    entryIds: [],
    model: null,
  };
}

/** The blocks that `model` wrote, as sent to `reader`. */
function sent(blocks: Block[], model: string | null, reader: string | null = null): unknown[] {
  const messages = [{ ...message("assistant", ...blocks), model }];
  const { turns } = readTurns(messages, { rules: RULES, model: reader });
  return turns.flatMap((turn) => (turn.role === "assistant" ? turn.blocks : []));
}

function read(...messages: ContextMessage[]): ReturnType<typeof readTurns> {
  return readTurns(messages, { rules: RULES, model: null });
}

describe("system messages", () => {
  test("at the start go to the provider's own place", () => {
    expect(read(message("system", "be kind", " "), message("system", "be brief"))).toEqual({
      system: "be kind\n\nbe brief",
      turns: [],
    });
  });

  test("in the middle become marked user turns in place", () => {
    const { system, turns } = read(message("user", "hi"), message("system", "be brief"));
    expect(system).toBeNull();
    expect(turns[1]).toEqual({
      role: "user",
      blocks: [{ type: "text", text: "<system_note>\nbe brief\n</system_note>" }],
    });
  });
});

describe("blocks", () => {
  test("without visible text are dropped, and so is a turn of them", () => {
    expect(read(message("user", "", " \n", "\0"), message("assistant", "")).turns).toEqual([]);
  });

  test("with a lone surrogate are repaired", () => {
    const { turns } = read(message("user", "a\ud83d"));
    expect(turns).toEqual([{ role: "user", blocks: [{ type: "text", text: "a\ufffd" }] }]);
  });

  test("that are results become their own turns, in any message", () => {
    const result: Block = { type: "tool_result", toolUseId: "x", output: "done", isError: false };
    const roles = read(message("user", "a", result, "b"), message("assistant", "c", result, "d"));
    expect(roles.turns.map(({ role }) => role).join()).toBe(
      "user,tool,user,assistant,tool,assistant",
    );
  });

  test("that are calls need an id, a name and an assistant", () => {
    const call = (id: string, name: string): Block => ({ type: "tool_use", id, name, input: "{}" });
    expect(sent([call("", "read"), call("x", " "), call("x", "1 läs filen nu")], null)).toEqual([
      { type: "tool_use", id: "x", name: "_1_l_s_filen", input: "{}" },
    ]);
    expect(read(message("user", call("x", "read"))).turns).toEqual([]);
  });

  test("of a tool's output that no provider claims are shown, except files", () => {
    const json = '{"type":"resource","uri":"a"}';
    const output: Block[] = [
      { type: "opaque", json },
      { type: "opaque", provider: "x", json },
    ];
    const result: Block = { type: "tool_result", toolUseId: "x", output, isError: false };
    const empty: Block = { ...result, output: [] };
    const file: Block = { ...result, output: [{ type: "opaque", json: "x".repeat(20_001) }] };
    const [turn] = read(message("tool", result, empty, file)).turns;
    expect(turn?.role === "tool" && turn.results.map((each) => each.output)).toEqual([
      [{ type: "text", text: json }],
      [{ type: "text", text: "(no output)" }],
      [{ type: "text", text: "[20001 characters of data left out]" }],
    ]);
  });
});

describe("signed thoughts", () => {
  const thought: Block = { type: "thinking", text: "hm", signature: "c2ln" };
  const kept = [{ ...thought, family: "anthropic" }];

  test("are sent unchanged to the family that signed them", () => {
    expect(sent([thought], "claude-sonnet-4-5")).toEqual(kept);
    expect(sent([thought], null)).toEqual(kept);
  });

  test("of another family, of an unknown model or without a signature are left out", () => {
    expect(sent([thought], "gemini-2.5-pro")).toEqual([]);
    expect(sent([thought], "llama-3")).toEqual([]);
    expect(sent([{ type: "thinking", text: "hm" }], "claude-sonnet-4-5")).toEqual([]);
  });

  test("that need a repair are left out: a changed one would be refused", () => {
    expect(sent([{ ...thought, text: "hm\ud800" }], "claude-sonnet-4-5")).toEqual([]);
  });

  test("of another model are left out when the reader is known", () => {
    expect(sent([thought], "claude-sonnet-4-5", "claude-opus-4-5")).toEqual([]);
    expect(sent([thought], "our-alias", "our-alias")).toEqual(kept);
  });
});

describe("opaque blocks", () => {
  const json = '{"type":"redacted_thinking","data":"x"}';
  const opaque = (provider: string): Block => ({ type: "opaque", provider, json });
  const kept = [{ type: "opaque", value: { type: "redacted_thinking", data: "x" } }];

  test("are sent only to the provider that they name", () => {
    expect(sent([opaque("anthropic")], null)).toEqual(kept);
    expect(sent([opaque("anthropic.messages")], "our-alias")).toEqual(kept);
    expect(sent([opaque("openai"), { type: "opaque", json }], null)).toEqual([]);
  });

  test("of another model are left out when the reader is known", () => {
    expect(sent([opaque("anthropic")], "claude-sonnet-4-5", "claude-opus-4-5")).toEqual([]);
  });

  test("that are not an object, or may not stand there, are left out", () => {
    expect(sent([{ ...opaque("anthropic"), json: "{broken" } as Block], null)).toEqual([]);
    expect(sent([{ ...opaque("anthropic"), json: '{"type":"document"}' } as Block], null)).toEqual(
      [],
    );
  });
});
