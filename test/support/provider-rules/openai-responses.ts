/** The rules of OpenAI's Responses API for input items, as its documentation and errors state them. */

import {
  type Expect,
  expectAnswers,
  expectIds,
  isBlank,
  isImageAddress,
  objects,
  string,
  violations,
} from "./wire.ts";

export function openAiResponsesViolations(rendered: unknown): string[] {
  return violations(rendered, (context, expect) => {
    if ("instructions" in context) expect(!isBlank(context["instructions"]), "blank instructions");
    const items = objects(context["input"]);
    const open = new Set<string>();
    items.forEach((item, i) => {
      const id = string(item["call_id"]);
      switch (item["type"]) {
        case "message":
          expect(open.size === 0, "a message stands between a call and its output");
          checkContent(item["content"], item["role"] === "user", expect);
          break;
        case "function_call":
          open.add(id);
          expect(/^[a-zA-Z0-9_-]{1,64}$/.test(string(item["name"])), "a name is refused");
          expect(typeof item["arguments"] === "string", "arguments are not text");
          break;
        case "function_call_output":
          expect(open.delete(id), `no call ${id} is open`);
          checkOutput(item["output"], expect);
          break;
        case "reasoning": {
          const { role, type } = items[i + 1] ?? {};
          const follows = role === "assistant" || /^reasoning$|_call$/.test(string(type));
          expect(follows, "reasoning without its following item");
          break;
        }
        default:
          expect(/^\w+_call$/.test(string(item["type"])), `no such item: ${string(item["type"])}`);
      }
    });
    const ids = (type: string) =>
      items.filter((item) => item["type"] === type).map((item) => item["call_id"]);
    expectIds(ids("function_call"), /^[a-zA-Z0-9_-]{1,64}$/, expect);
    expectAnswers(ids("function_call"), ids("function_call_output"), expect);
  });
}

function checkOutput(output: unknown, expect: Expect): void {
  if (typeof output === "string") expect(!isBlank(output), "an output says nothing");
  else checkContent(output, true, expect);
}

function checkContent(content: unknown, isInput: boolean, expect: Expect): void {
  expect(objects(content).length > 0, "a message is empty");
  for (const part of objects(content)) {
    if (part["type"] === (isInput ? "input_text" : "output_text")) {
      expect(!isBlank(part["text"]), "a part is blank");
    } else {
      expect(isInput, `an assistant may not send ${string(part["type"])}`);
      const isImage = part["type"] === "input_image" && isImageAddress(part["image_url"]);
      expect(isImage || part["type"] === "input_file", `a user sent ${string(part["type"])}`);
    }
  }
}
