/** The rules of Mistral's chat API, as its documentation and its errors state them. */

import {
  type Expect,
  expectAnswers,
  expectIds,
  isBlank,
  isImageAddress,
  isObject,
  objects,
  string,
  violations,
} from "./wire.ts";

/** "Unexpected role 'user' after role 'tool'": the allowed successors of each role. */
const FOLLOWS: Readonly<Record<string, readonly string[]>> = {
  "": ["system", "user"],
  system: ["user"],
  user: ["assistant"],
  assistant: ["user", "tool"],
  tool: ["tool", "assistant"],
};

export function mistralViolations(rendered: unknown): string[] {
  return violations(rendered, (context, expect) => {
    const messages = objects(context["messages"]);
    let role = "";
    let open: unknown[] = [];
    for (const message of messages) {
      const next = string(message["role"]);
      expect(FOLLOWS[role]?.includes(next) ?? false, `'${next}' after '${role}'`);
      if (next === "tool") {
        expect(open.includes(message["tool_call_id"]), "a result of no call");
        expect(!isBlank(message["content"]), "a result says nothing");
        open = open.filter((id) => id !== message["tool_call_id"]);
      } else expect(open.length === 0, "not the same number of calls and results");
      if (next === "assistant") {
        const calls = objects(message["tool_calls"]);
        open = calls.map((call) => call["id"]);
        expect(calls.length > 0 || !isBlank(message["content"]), "an assistant says nothing");
        for (const { function: called } of calls) {
          expect(isObject(called) && typeof called["arguments"] === "string", "no arguments");
        }
      } else if (next !== "tool") checkContent(message["content"], expect);
      role = next;
    }
    expect(open.length === 0, "not the same number of calls and results");
    const calls = messages.flatMap((message) => objects(message["tool_calls"]));
    const ids = calls.map((call) => call["id"]);
    expectIds(ids, /^[a-zA-Z0-9]{9}$/, expect);
    expectAnswers(
      ids,
      messages.flatMap((message) => message["tool_call_id"] ?? []),
      expect,
    );
  });
}

/** "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant." */
export function mistralEndViolations(rendered: unknown): string[] {
  return violations(rendered, (context, expect) => {
    const role = string(objects(context["messages"]).at(-1)?.["role"]);
    expect(role === "user" || role === "tool", `the last role is '${role}'`);
  });
}

function checkContent(content: unknown, expect: Expect): void {
  if (typeof content === "string") {
    expect(!isBlank(content), "a message is blank");
    return;
  }
  expect(objects(content).length > 0, "a message is empty");
  for (const part of objects(content)) {
    if (part["type"] === "text") expect(!isBlank(part["text"]), "a part is blank");
    else if (part["type"] === "image_url") expect(isImageAddress(part["image_url"]), "no image");
    else expect(part["type"] === "document_url", `a user sent ${string(part["type"])}`);
  }
}
