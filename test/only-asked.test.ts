import { describe, expect, test } from "vitest";
import type { Engine } from "../src/engine/engine.ts";
import type { MessageInput } from "../src/engine/message-input.ts";
import { READ_ACCESS } from "../src/mcp/access.cases.ts";
import { findTool } from "../src/mcp/tools/agent-tools.ts";
import { open } from "../src/open.ts";

/** Sessions that asked for what another session answered. */

const QUESTION = "Which port does the staging database listen on, and why that one?";
const ANSWER =
  "The staging database listens on port 6543, because the pooler of the old cluster kept 5432.";

async function talk(engine: Engine, messages: readonly MessageInput[]): Promise<string> {
  const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
  for (const message of messages) await session.append(message);
  return session.id;
}

function used(name: string, input: object, output: string): MessageInput {
  return {
    role: "assistant",
    toolCalls: [{ id: "1", name, arguments: input as never }],
    toolResults: [{ id: "1", name, output }],
  };
}

const asks = (content = QUESTION): MessageInput => ({ role: "user", content });
const says = (content: string): MessageInput => ({ role: "assistant", content });
const recalled = `<recalled-context>\nab12 Staging [coder, 3 d ago]\n→ #1 assistant: ${ANSWER}\n</recalled-context>`;

const ASKERS: readonly (readonly [what: string, messages: readonly MessageInput[]])[] = [
  [
    "searched and ended",
    [
      asks(),
      used("ToolSearch", { query: "select:mcp__backscroll__search_past_conversations" }, "loaded"),
      used("mcp__backscroll__search_past_conversations", { query: QUESTION }, recalled),
    ],
  ],
  [
    "searched under an old name and repeated the answer",
    [
      asks(),
      used("backscroll_search_sessions", { query: "staging database port" }, recalled),
      used("backscroll_list_messages", { around: "ab12#1" }, `#0 user: ${QUESTION}\n#1 ${ANSWER}`),
      says(`In an earlier conversation: ${ANSWER}`),
    ],
  ],
  ["only asked", [asks()]],
  [
    "asked the command line",
    [asks(), used("Bash", { command: `backscroll search "${QUESTION}"` }, ANSWER), says(ANSWER)],
  ],
];

describe.each(ASKERS)("a session that %s", (_what, messages) => {
  test.each([1, 3, 8, 20])("ranks below the answer, beside %i of its kind", async (count) => {
    await using engine = await open(":memory:", { inThread: true });
    const answering = await talk(engine, [
      asks("The staging database refuses connections, can you look?"),
      used("Bash", { command: "ss -ltn" }, "LISTEN 0 128 0.0.0.0:6543"),
      says(ANSWER),
    ]);
    await talk(engine, [asks("Write a haiku about herons"), says("Grey on grey water")]);
    for (let i = 0; i < count; i++) await talk(engine, messages);
    for (const limit of [5, 10]) {
      const { hits } = await engine.searchSessions(QUESTION, { limit });
      expect(hits[0]?.sessionId).toBe(answering);
      const asking = hits.filter(({ onlyAsked }) => onlyAsked !== undefined);
      expect(asking.map(({ onlyAsked }) => onlyAsked?.length)).toEqual([count - 1]);
    }
    const host = { tenant: engine, access: READ_ACCESS, version: "0" };
    const { content } = (await findTool("search_past_conversations")?.tool.call(host, {
      query: QUESTION,
    })) ?? { content: [] };
    const text = content[0]?.type === "text" ? content[0].text : "";
    expect(text).toContain(ANSWER);
    const others = count === 1 ? "1 other session" : `${count} other sessions`;
    expect(text).toContain(`asked the same: ${others}, `);
    expect(text.split(QUESTION)).toHaveLength(1);
  });
});

test("a session that adds something is a hit like others", async () => {
  await using engine = await open(":memory:", { inThread: true });
  const search = used("mcp__backscroll__search_sessions", { query: QUESTION }, recalled);
  const added: readonly (readonly MessageInput[])[] = [
    [asks(), search, says("It was 6543, but today I moved it behind pgbouncer on a unix socket.")],
    [asks(), search, used("Edit", { file_path: "compose.yml" }, "ok"), says("Done.")],
    [asks(), says("On 6543.")],
    [asks("The staging database listens on a port that I chose for luck.")],
  ];
  for (const messages of added) await talk(engine, messages);
  const { hits } = await engine.searchSessions(QUESTION, { limit: 10 });
  expect(hits.map(({ onlyAsked }) => onlyAsked)).toEqual(added.map(() => undefined));
});

test("a search for a question finds its askers where nobody answered", async () => {
  await using engine = await open(":memory:", { inThread: true });
  for (let i = 0; i < 3; i++) await talk(engine, [asks()]);
  await talk(engine, [asks("Which port has the staging proxy of the herons?")]);
  const { hits } = await engine.searchSessions(QUESTION);
  expect(hits[0]?.onlyAsked).toHaveLength(2);
});

test("what was asked of our tools is no statement", async () => {
  await using engine = await open(":memory:", { inThread: true });
  const id = await talk(engine, [
    asks("hm"),
    used("mcp__backscroll__recap_past_work", { project: "okapi" }, "Nothing about the quagga."),
    used("Bash", { command: "grep bongo" }, "found"),
  ]);
  const found = async (word: string) =>
    (await engine.searchSessions(word)).hits.map(({ sessionId }) => sessionId);
  expect(await found("okapi")).toEqual([]);
  expect(await found("quagga")).toEqual([]);
  expect(await found("bongo")).toEqual([id]);
});
