import { expect, test } from "vitest";
import { RECORDED_CLIENTS } from "../../test/fixtures/mcp-clients.ts";
import { conversationIds } from "./clients.ts";

test.each(RECORDED_CLIENTS)("$client names its conversation as recorded", (recorded) => {
  const { clientInfo, variables, meta, conversation } = recorded;
  expect(conversationIds({ client: clientInfo.name, variables, meta })).toEqual(conversation);
  // A client that is not known by its name is believed, too.
  expect(conversationIds({ variables, meta })).toEqual(conversation);
});

test("an agent that was started inside another does not take the other's conversation for its own", () => {
  const variables = { CLAUDE_CODE_SESSION_ID: "outer" };
  expect(conversationIds({ client: "opencode", variables })).toEqual([]);
  expect(
    conversationIds({ client: "codex-mcp-client", variables, meta: { threadId: "t" } }),
  ).toEqual(["t"]);
});

test("a value that is no id is skipped", () => {
  const meta = { threadId: 7, sessionId: "", "vscode.conversationId": "x".repeat(200) };
  expect(conversationIds({ meta })).toEqual([]);
});
