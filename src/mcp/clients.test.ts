import { expect, test } from "vitest";
import { RECORDED_CLIENTS } from "../../test/fixtures/mcp-clients.ts";
import { conversationIds } from "./clients.ts";

test.each(RECORDED_CLIENTS)("$client names its conversation as recorded", (recorded) => {
  const { clientInfo, variables, meta, conversation } = recorded;
  expect(conversationIds({ client: clientInfo.name, variables, meta })).toEqual(conversation);
  // An unknown client's name is accepted too.
  expect(conversationIds({ variables, meta })).toEqual(conversation);
});

test("an agent started by another agent does not claim its parent's conversation", () => {
  const variables = { CLAUDE_CODE_SESSION_ID: "outer" };
  expect(conversationIds({ client: "opencode", variables })).toEqual([]);
  expect(
    conversationIds({ client: "codex-mcp-client", variables, meta: { threadId: "t" } }),
  ).toEqual(["t"]);
});

test("a value that is not an id is skipped", () => {
  const meta = { threadId: 7, sessionId: "", "vscode.conversationId": "x".repeat(200) };
  expect(conversationIds({ meta })).toEqual([]);
});
