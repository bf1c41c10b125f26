/** The rules of OpenAI's Chat Completions, as its documentation and its errors state them. */

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
  type Wire,
} from "./wire.ts";

export function openAiChatViolations(rendered: unknown): string[] {
  return violations(rendered, (context, expect) => {
    const messages = objects(context["messages"]);
    messages.forEach((message, i) => {
      switch (message["role"]) {
        case "system":
          expect(i === 0, "a system message stands later");
          expect(!isBlank(message["content"]), "the system message is blank");
          break;
        case "user":
          checkUser(message["content"], expect);
          break;
        case "assistant":
          checkAssistant(message, messages.slice(i + 1), expect);
          break;
        case "tool":
          expect(!isBlank(message["content"]), "a result says nothing");
          expect(/^(?:assistant|tool)$/.test(string(messages[i - 1]?.["role"])), "an orphan");
          break;
        default:
          expect(false, `a message is of ${string(message["role"])}`);
      }
    });
    const calls = messages.flatMap((message) => objects(message["tool_calls"]));
    const ids = calls.map((call) => call["id"]);
    expectIds(ids, /^.{1,40}$/, expect);
    const results = messages.flatMap((message) => message["tool_call_id"] ?? []);
    expectAnswers(ids, results, expect);
  });
}

function checkUser(content: unknown, expect: Expect): void {
  if (typeof content === "string") {
    expect(!isBlank(content), "a user says nothing");
    return;
  }
  expect(objects(content).length > 0, "a user message is empty");
  for (const part of objects(content)) {
    if (part["type"] === "text") expect(!isBlank(part["text"]), "a part is blank");
    else if (part["type"] === "image_url") {
      const url = isObject(part["image_url"]) ? part["image_url"]["url"] : undefined;
      expect(isImageAddress(url), `an image is at ${string(url)}`);
    } else expect(part["type"] === "file", `a user may not send ${string(part["type"])}`);
  }
}

function checkAssistant(message: Wire, rest: readonly Wire[], expect: Expect): void {
  const calls = objects(message["tool_calls"]);
  expect(!("tool_calls" in message) || calls.length > 0, "an empty list of calls");
  expect(calls.length > 0 || !isBlank(message["content"]), "an assistant says nothing");
  for (const call of calls) {
    const { name, arguments: input } = isObject(call["function"]) ? call["function"] : {};
    expect(/^[a-zA-Z0-9_-]{1,64}$/.test(string(name)), "a name is refused");
    expect(typeof input === "string", "arguments are not text");
  }
  const end = rest.findIndex((next) => next["role"] !== "tool");
  const results = end < 0 ? rest : rest.slice(0, end);
  expectAnswers(
    calls.map((call) => call["id"]),
    results.map((result) => result["tool_call_id"]),
    expect,
  );
}
