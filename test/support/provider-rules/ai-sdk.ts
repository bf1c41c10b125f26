/** The rules of the AI SDK: its own schema, and the common rules of the providers behind it. */

import { modelMessageSchema } from "ai";
import {
  type Expect,
  expectAnswers,
  expectIds,
  isBlank,
  objects,
  violations,
  type Wire,
} from "./wire.ts";

export function aiSdkViolations(rendered: unknown): string[] {
  return violations(rendered, (context, expect) => {
    if ("instructions" in context) expect(!isBlank(context["instructions"]), "blank instructions");
    const messages = objects(context["messages"]);
    messages.forEach((message, i) => {
      const { success } = modelMessageSchema.safeParse(message);
      expect(success, `the schema refuses ${JSON.stringify(message)}`);
      expect(message["role"] !== "system", "the system may not speak in the list");
      expect(i > 0 || message["role"] === "user", "an assistant begins");
      expect(message["role"] !== messages[i - 1]?.["role"], "two messages of one role");
      checkParts(message, expect);
      const results = ids(message, "tool-result");
      expectAnswers(i === 0 ? [] : ids(messages[i - 1] ?? {}, "tool-call"), results, expect);
    });
    expect(ids(messages.at(-1) ?? {}, "tool-call").length === 0, "the last call has no result");
    expectIds(
      messages.flatMap((message) => ids(message, "tool-call")),
      /^[a-zA-Z0-9_-]{1,40}$/,
      expect,
    );
  });
}

function ids(message: Wire, type: string): unknown[] {
  const parts = objects(message["content"]).filter((part) => part["type"] === type);
  return parts.map((part) => part["toolCallId"]);
}

function checkParts(message: Wire, expect: Expect): void {
  const parts = objects(message["content"]);
  expect(parts.length > 0, "a message is empty");
  expect(parts.at(-1)?.["type"] !== "reasoning", "a message ends in a thought");
  for (const part of parts) {
    if (part["type"] === "text") expect(!isBlank(part["text"]), "a part is blank");
  }
}
