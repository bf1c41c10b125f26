import { expect, test } from "vitest";
import type { Block } from "../../model/block.ts";
import type { ContextMessage } from "../chat-model.ts";
import { renderContext } from "./render.ts";
import { PNG, STORY, said } from "./story.cases.ts";

test("the example is rendered for Google", () => {
  expect(renderContext(STORY, "google")).toEqual({
    systemInstruction: { parts: [{ text: "Be brief." }] },
    contents: [
      { role: "user", parts: [{ text: "What is in a.txt?" }] },
      {
        role: "model",
        parts: [
          { text: "Let me look." },
          { functionCall: { id: "toolu149dceb4472", name: "read", args: { path: "a.txt" } } },
          {
            functionCall: {
              id: "call20fbf6e6c88",
              name: "shell.run",
              args: { _raw: '{"command":' },
            },
          },
        ],
      },
      {
        role: "user",
        parts: [
          {
            functionResponse: {
              id: "toolu149dceb4472",
              name: "read",
              response: { output: "hello\n\n[image: see the next message]" },
            },
          },
          {
            functionResponse: {
              id: "call20fbf6e6c88",
              name: "shell.run",
              response: { error: "no such command" },
            },
          },
        ],
      },
      {
        role: "user",
        parts: [
          { text: "[images of the tool results above, in order]" },
          { inlineData: { mimeType: "image/png", data: PNG } },
          { text: "<system_note>\nHalf the budget is used.\n</system_note>" },
          { text: "And?" },
        ],
      },
    ],
  });
});

/** A call that Google signed, and the thought before it. */
function signed(signature: string, model: string | null): ContextMessage {
  const call = {
    type: "tool_use",
    id: "x",
    name: "read",
    input: "{}",
    thoughtSignature: signature,
  };
  const blocks = [{ type: "thinking", text: "Hm.", signature }, call] as Block[];
  return { ...said("assistant", ""), blocks, model };
}

function partsOf(message: ContextMessage): unknown {
  return renderContext([said("user", "Go."), message], "google").contents[1]?.parts;
}

const CALL = { functionCall: { id: "x", name: "read", args: {} } };

test("signatures return on their own parts", () => {
  expect(partsOf(signed("c2lnbmVk", "gemini-2.5-pro"))).toEqual([
    { text: "Hm.", thought: true, thoughtSignature: "c2lnbmVk" },
    { ...CALL, thoughtSignature: "c2lnbmVk" },
  ]);
});

test("a signed text keeps its signature, unless it was repaired", () => {
  const textOf = (text: string) => {
    const signedText = { type: "text", text, thought_signature: "c2lnbmVk" } as const;
    return partsOf({ ...said("assistant", ""), blocks: [signedText], model: "gemini-2.5-pro" });
  };
  expect(textOf("Yes.")).toEqual([{ text: "Yes.", thoughtSignature: "c2lnbmVk" }]);
  expect(textOf("Yes\ud800")).toEqual([{ text: "Yes\ufffd" }]);
});

test("signatures that are not base64, or of another family, are left out", () => {
  expect(partsOf(signed("not base64!", "gemini-2.5-pro"))).toEqual([CALL]);
  expect(partsOf(signed("c2lnbmVk", "claude-sonnet-4-5"))).toEqual([CALL]);
});

test("an image with a URL is a file", () => {
  const blocks: Block[] = [{ type: "image", url: "https://example.com/a.png" }];
  expect(renderContext([{ ...said("user", ""), blocks }], "google").contents).toEqual([
    {
      role: "user",
      parts: [{ fileData: { mimeType: "image/png", fileUri: "https://example.com/a.png" } }],
    },
  ]);
});
