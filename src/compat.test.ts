import { expect, test } from "vitest";
import {
  appendCommit,
  appendMessage,
  appendOpen,
  ConversationResource,
  newSession,
} from "./compat.ts";
import { textOf } from "./model/block.ts";
import type { Entry } from "./model/entry.ts";
import { open } from "./open.ts";

test("aliases call the primitives", async () => {
  await using engine = await open(":memory:");
  const id = await newSession(engine, "agent", "sender", { title: "t" });
  expect(await engine.getSessionMeta(id)).toMatchObject({ agent: "agent", createdBy: "sender" });
  await appendMessage(engine, id, { role: "user", content: "question" });
  const message = await appendOpen(await engine.getSession(id), { role: "assistant" });
  await message.write("answer");
  await appendCommit(message, { usage: { outputTokens: 2 } });
  const { messages } = await engine.listMessages(id);
  expect(messages.map((each) => textOf(each.blocks))).toEqual(["question", "answer"]);
  await expect(appendMessage(engine, "none", { role: "user", content: "x" })).rejects.toMatchObject(
    { code: "session_not_found" },
  );
});

test("getSession gives an instance of the host's own subclass", async () => {
  class SupportConversation extends ConversationResource {
    ask(question: string): Promise<Entry> {
      return this.append({ role: "user", actor: "customer", content: question });
    }

    override async history(): Promise<Entry[]> {
      return (await super.history({ limit: 1 })).toReversed();
    }
  }
  await using engine = await open(":memory:");
  const id = await newSession(engine, "support", "customer");
  const conversation = await engine.getSession(id, SupportConversation);
  expect(conversation).toBeInstanceOf(SupportConversation);
  await conversation.ask("one");
  await conversation.ask("two");
  expect((await conversation.history()).map((entry) => textOf(entry.blocks))).toEqual(["two"]);
  await expect(engine.getSession("none", SupportConversation)).rejects.toMatchObject({
    code: "session_not_found",
  });
});
