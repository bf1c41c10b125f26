import { expect, test } from "vitest";
import type { Block } from "../model/block.ts";
import { open } from "../open.ts";
import { maskEntry, maskFact, maskMemory, maskSession } from "./mask.ts";

/** Concatenated, so that secret scanners ignore this file. */
const KEY = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF"}`;

test("masks every text of an entry, and keeps signed and encrypted data", async () => {
  await using memory = await open(":memory:");
  const session = await memory.createSession({
    agent: "coder",
    createdBy: "ana",
    title: `Use ${KEY}`,
    metadata: { env: [{ DB_PASSWORD: "hunter2", port: 5432 }], note: "plain" },
    origin: { projectPath: `/srv/${KEY}`, gitBranch: "main" },
  });
  const blocks: Block[] = [
    { type: "text", text: `key ${KEY}.` },
    { type: "thinking", text: KEY, signature: KEY },
    { type: "tool_use", id: KEY, name: "bash", input: { token: KEY } },
    {
      type: "tool_result",
      toolUseId: "1",
      isError: false,
      output: [{ type: "text", text: "postgres://a:pa55@host/db" }],
    },
    { type: "image", data: KEY, mediaType: "image/png" },
    { type: "opaque", json: `{"k":"${KEY}"}` },
  ];
  const entry = await session.append({ role: "assistant", content: blocks });
  expect(maskEntry(entry)).toEqual({
    ...entry,
    blocks: [
      { type: "text", text: "key [redacted]." },
      { type: "thinking", text: "[redacted]", signature: KEY },
      { type: "tool_use", id: KEY, name: "bash", input: { token: "[redacted]" } },
      {
        type: "tool_result",
        toolUseId: "1",
        isError: false,
        output: [{ type: "text", text: "postgres://a:[redacted]@host/db" }],
      },
      { type: "image", data: KEY, mediaType: "image/png" },
      { type: "opaque", json: '{"k":"[redacted]"}' },
    ],
  });
  expect((await session.history())[0]?.blocks).toEqual(blocks);

  const meta = await session.meta();
  expect(maskSession(meta)).toEqual({
    ...meta,
    title: "Use [redacted]",
    origin: { projectPath: "/srv/[redacted]", gitBranch: "main" },
    metadata: { env: [{ DB_PASSWORD: "[redacted]", port: 5432 }], note: "plain" },
  });
  const [fact] = await session.addFacts([
    { subject: "staging", predicate: "password", object: "hunter2" },
  ]);
  expect(fact && maskFact(fact)).toMatchObject({ subject: "staging", object: "[redacted]" });
  const note = await memory.putMemory({ agent: "a", name: "n", content: `It is ${KEY}` });
  expect(maskMemory(note).content).toBe("It is [redacted]");
});

test("leaves text without secrets unchanged", async () => {
  await using memory = await open(":memory:");
  const session = await memory.createSession({ agent: "coder", createdBy: "ana", title: "Cron" });
  const entry = await session.append({ role: "user", content: "Why?", metadata: { n: 1 } });
  expect(maskEntry(entry)).toEqual(entry);
  expect(maskSession(await session.meta())).toEqual(await session.meta());
});
