import { expect, onTestFinished, test } from "vitest";
import { open } from "../../open.ts";
import type { SdkModel } from "./memory-turn.ts";
import { withMemory } from "./with-memory.ts";

test("a newest message that is large is cut after an overflow, with a note", async () => {
  const memory = await open(":memory:", { inThread: true });
  onTestFinished(() => memory.close());
  const session = await memory.createSession({ agent: "coder", createdBy: "ana" });
  const sent: string[] = [];
  const model = {
    specificationVersion: "v3",
    provider: "test",
    modelId: "m",
    supportedUrls: {},
    doGenerate: async (call: { readonly prompt: unknown }) => {
      sent.push(JSON.stringify(call.prompt));
      if (sent.length < 4) throw new Error("This model's maximum context length is 8000 tokens.");
      return { content: [{ type: "text", text: "Fine." }], usage: {}, finishReason: "stop" };
    },
    doStream: () => Promise.reject(new Error("not here")),
  };
  const remembering = withMemory(model, {
    memory,
    conversationId: session.id,
    contextWindow: 8_000,
  }) as unknown as SdkModel;
  const text = "word ".repeat(3_000);
  await remembering.doGenerate({ prompt: [{ role: "user", content: [{ type: "text", text }] }] });
  expect(sent).toHaveLength(4);
  expect(sent[0]).toContain(text);
  expect(sent.at(-1)).toMatch(/ characters left out/);
  expect(sent.map(({ length }) => length)).toEqual(
    sent.map(({ length }) => length).toSorted((a, b) => b - a),
  );
});
