import { expect, test } from "vitest";
import { textOf } from "../model/block.ts";
import { open } from "../open.ts";
import type { SessionHandle } from "./session-handle.ts";

/** Everything that a session shows of its messages. */
async function shown(session: SessionHandle) {
  const meta = await session.meta();
  const { messages, total } = await session.listMessages();
  const history = await session.history({ includeSummaries: true });
  const path = await session.listEntries();
  const texts = (entries: typeof history) => entries.map((entry) => textOf(entry.blocks));
  return {
    count: meta.messageCount,
    leaf: meta.leaf,
    updatedAt: meta.updatedAt,
    total,
    listed: texts(messages),
    history: texts(history),
    path: texts(path.entries.filter((entry) => entry.status !== "aborted")),
    branches: (await session.branches()).length,
  };
}

test("a pending message is visible only by its id and in the feed", async () => {
  await using engine = await open(":memory:");
  const session = await engine.createSession({ agent: "test", createdBy: "test" });
  await session.append({ role: "user", content: "question" });
  const before = await shown(session);

  const message = await session.openMessage({ role: "assistant", actor: "bot" });
  await message.write("half an ans");
  await message.flush();
  expect(await shown(session)).toEqual(before);
  const tree = await session.listEntries({ tree: true });
  expect(tree.entries.map((entry) => entry.id)).not.toContain(message.id);
  expect((await session.meta()).participants).not.toContain("bot");
  expect(await engine.getEntry(message.id)).toMatchObject({
    status: "pending",
    sequence: 0,
    index: null,
    hash: null,
    parentId: null,
    blocks: [{ type: "text", text: "half an ans" }],
  });
  expect((await engine.tenantStatus())?.pending).toBe(1);
  const { changes } = await engine.listChanges({ session: session.id });
  const own = changes.filter((change) => change.entryId === message.id);
  expect(own.map((change) => change.kind)).toEqual(["message_opened", "message_chunk"]);

  // It cannot be continued before its commit.
  const append = session.append({ role: "user", content: "x" }, { parent: message.id });
  await expect(append).rejects.toMatchObject({ code: "entry_not_found" });
  await expect(session.branch(message.id)).rejects.toMatchObject({ code: "entry_not_found" });

  await message.write("wer");
  await message.commit();
  const after = await shown(session);
  expect(after).toMatchObject({ count: 2, total: 2, leaf: message.id });
  expect(after.listed).toEqual(["question", "half an answer"]);
});

test("an aborted message stays off the path, and out of contexts", async () => {
  await using engine = await open(":memory:");
  const session = await engine.createSession({ agent: "test", createdBy: "test" });
  const question = await session.append({ role: "user", content: "question" });
  const before = await shown(session);
  const message = await session.openMessage({ role: "assistant" });
  await message.write("interrup");
  await message.abort();

  expect({ ...(await shown(session)), updatedAt: before.updatedAt }).toEqual(before);
  const tree = await session.listEntries({ tree: true });
  expect(tree.entries.at(-1)).toMatchObject({
    id: message.id,
    status: "aborted",
    parentId: question.id,
  });
  // A new answer replaces it.
  const answer = await session.regenerate(message.id, { role: "assistant", content: "whole" });
  expect(answer.parentId).toBe(question.id);
  expect((await engine.getEntry(message.id)).supersededBy).toBe(answer.id);
  expect((await shown(session)).listed).toEqual(["question", "whole"]);
});
