/** The rules of Anthropic's Messages API, as its documentation and its errors state them. */

import {
  type Expect,
  expectAnswers,
  expectIds,
  isBase64,
  isBlank,
  isObject,
  objects,
  string,
  violations,
  type Wire,
} from "./wire.ts";

export function anthropicViolations(rendered: unknown): string[] {
  return violations(rendered, (context, expect) => {
    if ("system" in context) expect(!isBlank(context["system"]), "the system text is blank");
    const messages = objects(context["messages"]);
    messages.forEach((message, i) => {
      const role = i % 2 === 0 ? "user" : "assistant";
      expect(message["role"] === role, `message ${i} is not the ${role}'s: roles do not alternate`);
      const content = objects(message["content"]);
      expect(content.length > 0, `message ${i} is empty`);
      if (message["role"] === "user") checkUser(content, expect);
      else checkAssistant(content, expect);
      const before = i === 0 ? [] : objects(messages[i - 1]?.["content"]);
      expectAnswers(
        ids(before, "tool_use", "id"),
        ids(content, "tool_result", "tool_use_id"),
        expect,
      );
    });
    const last = messages.at(-1);
    if (last?.["role"] === "assistant") {
      const end = objects(last["content"]).at(-1);
      expect(end?.["type"] !== "tool_use", "the last call has no result");
      const text = string(end?.["text"]);
      expect(text === text.trimEnd(), "the final assistant message ends in white space");
    }
    const calls = messages.flatMap((message) => ids(objects(message["content"]), "tool_use", "id"));
    expectIds(calls, /^[a-zA-Z0-9_-]+$/, expect);
  });
}

/** "This model does not support assistant message prefill. The conversation must end with a user message." */
export function anthropicEndViolations(rendered: unknown): string[] {
  return violations(rendered, (context, expect) => {
    const role = objects(context["messages"]).at(-1)?.["role"];
    expect(role === "user", `the conversation ends with ${string(role) || "nothing"}`);
  });
}

function ids(content: readonly Wire[], type: string, field: string): unknown[] {
  return content.filter((block) => block["type"] === type).map((block) => block[field]);
}

function checkUser(content: readonly Wire[], expect: Expect): void {
  const types = content.map((block) => string(block["type"]));
  const results = types.filter((type) => type === "tool_result").length;
  expect(types.lastIndexOf("tool_result") < results, "a result stands behind something else");
  for (const block of content) {
    switch (block["type"]) {
      case "tool_result":
        checkResult(block, expect);
        break;
      case "text":
      case "image":
        checkPart(block, expect);
        break;
      default:
        expect(block["type"] === "document", `a user may not send ${string(block["type"])}`);
    }
  }
}

function checkResult(block: Wire, expect: Expect): void {
  const { content } = block;
  if (typeof content === "string") expect(!isBlank(content), "a result says nothing");
  else {
    expect(objects(content).length > 0, "a result is empty");
    for (const part of objects(content)) checkPart(part, expect);
  }
}

function checkPart(part: Wire, expect: Expect): void {
  if (part["type"] === "text") {
    expect(!isBlank(part["text"]), "text content blocks must contain non-whitespace text");
    return;
  }
  expect(part["type"] === "image", `a part may not be ${string(part["type"])}`);
  const source = isObject(part["source"]) ? part["source"] : {};
  if (source["type"] === "url") expect(/^https:\/\//.test(string(source["url"])), "no https");
  else {
    expect(isBase64(source["data"]), "an image is not base64");
    const known = /^image\/(?:png|jpeg|gif|webp)$/.test(string(source["media_type"]));
    expect(known, `an image is ${string(source["media_type"])}`);
  }
}

function checkAssistant(content: readonly Wire[], expect: Expect): void {
  const types = content.map((block) => string(block["type"]));
  expect(!/^(?:redacted_)?thinking$/.test(types.at(-1) ?? ""), "the final block is a thought");
  const firstCall = types.indexOf("tool_use");
  const behind = firstCall < 0 ? [] : types.slice(firstCall);
  expect(
    behind.every((type) => type === "tool_use"),
    `behind a call stands ${behind.join()}`,
  );
  for (const block of content) {
    switch (block["type"]) {
      case "text":
        checkPart(block, expect);
        break;
      case "thinking":
        expect(!isBlank(block["signature"]), "a thought is not signed");
        break;
      case "tool_use":
        expect(isObject(block["input"]), "the input of a call is no object");
        expect(/^[a-zA-Z0-9_-]{1,128}$/.test(string(block["name"])), "a name is refused");
        break;
      default:
        expect(block["type"] === "redacted_thinking", `an assistant sent ${types.join()}`);
    }
  }
}
