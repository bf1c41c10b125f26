import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ServedStore, serveStore } from "./client.cases.ts";

/** The client renews it every third of it, a little later on a busy machine. */
const LEASE_MS = 6_000;
let served: ServedStore;
beforeAll(async () => {
  served = await serveStore({ leaseMs: LEASE_MS }, afterAll);
});

async function openMessage() {
  const session = await served.remote.createSession({ agent: "coder", createdBy: "ana" });
  const message = await session.openMessage({ role: "assistant", actor: "coder", model: "m" });
  return { session, message };
}

function textOfEntry(entry: { readonly blocks: readonly object[] }): string {
  return entry.blocks.map((block) => ("text" in block ? String(block.text) : "*")).join("|");
}

describe("a message that is written over the network", () => {
  test("is visible as it grows, and part of the conversation once committed", async () => {
    const { session, message } = await openMessage();
    const following = served.remote.subscribe({ session: session.id });
    await message.write("Because ");
    await message.write("the lock ");
    await message.write({ type: "tool_use", id: "t", name: "ls", input: { a: 1 } });
    await message.write("is gone.");
    // The interval flushes it.
    expect(await following.next()).toMatchObject({ value: { kind: "message_chunk" } });
    await following.return();
    expect(textOfEntry(await session.getEntry(message.id))).toBe("Because the lock |*|is gone.");
    expect((await session.meta()).messageCount).toBe(0);
    const usage = { inputTokens: 5, outputTokens: 7 };
    const entry = await message.commit({ usage, contextWindow: 100, metadata: { a: 1 } });
    expect(entry).toStrictEqual(await served.engine.getEntry(message.id));
    expect(entry).toMatchObject({ status: "committed", usage, metadata: { a: 1 } });
    await expect(message.write("more")).rejects.toMatchObject({ code: "stream_lost" });
  });

  test("is stored once although answers are lost", async () => {
    const { session, message } = await openMessage();
    const { line } = served;
    for (let i = 0; i < 6; i++) {
      await message.write(`${i} `);
      if (i % 2 === 0) line.loseAnswers(/\/chunks$/);
      const flushed = message.flush();
      if (i % 2 === 0) await expect(flushed).rejects.toMatchObject({ code: "store_unavailable" });
      else await flushed;
    }
    line.loseAnswers(/\/commit$/, 2);
    const entry = await message.commit();
    expect(textOfEntry(entry)).toBe("0 1 2 3 4 5 ");
    expect(await session.history()).toStrictEqual([entry]);
  });

  test("is complete although a chunk was lost", async () => {
    const { message } = await openMessage();
    await message.write("first ");
    await message.flush();
    await message.write("second ");
    served.line.cut();
    await message.flush().catch(() => undefined);
    await message.write("third");
    expect(textOfEntry(await message.commit())).toBe("first second third");
  });

  test("may be long, in chunks of any size", async () => {
    const { message } = await openMessage();
    const pieces = ["a".repeat(200_000), "b", "\ud83d", "\ude00", "c".repeat(64 * 1024), "d"];
    for (const piece of pieces) await message.write(piece);
    for (let i = 0; i < 20; i++) await message.write({ type: "text", text: `${i}` });
    expect(textOfEntry(await message.commit()).replaceAll("|", "")).toBe(
      pieces.join("") + Array.from({ length: 20 }, (_, i) => i).join(""),
    );
  });

  test("stays open after a commit that was refused", async () => {
    const { session, message } = await openMessage();
    await message.write("late");
    const refused = message.commit({ expectedLeaf: "somebody-else" });
    await expect(refused).rejects.toMatchObject({ code: "stale_leaf" });
    const wrong = message.write({ type: "text", text: 5 });
    await expect(wrong).rejects.toMatchObject({ code: "invalid_input" });
    await message.write("r");
    expect(textOfEntry(await message.commit({ parent: null }))).toBe("later");
    expect((await session.meta()).messageCount).toBe(1);
  });

  test("can be aborted, by its writer, by others, and by leaving its scope", async () => {
    const { session, message } = await openMessage();
    await message.write("half");
    const aborted = await message.abort("changed its mind");
    expect([aborted.status, textOfEntry(aborted)]).toEqual(["aborted", "half"]);
    const second = await session.openMessage({ role: "assistant" });
    expect((await served.remote.abortMessage(second.id, "stop")).status).toBe("aborted");
    await expect(second.commit()).rejects.toMatchObject({ code: "stream_lost" });
    let third = "";
    {
      await using message = await session.openMessage({ role: "assistant" });
      third = message.id;
    }
    expect((await session.getEntry(third)).status).toBe("aborted");
  });

  test("is kept by its lease during silence, and continued elsewhere", async () => {
    const { session, message } = await openMessage();
    expect(message.leaseMs).toBe(LEASE_MS);
    await message.write("one ");
    await message.flush();
    const said = served.line.requests.length;
    await expect
      .poll(() => served.line.requests.slice(said))
      .toContainEqual(expect.stringMatching(/^POST .*\/chunks$/));
    await served.engine.sweep();
    await message.renew();
    await message.detach();
    const again = await session.continueMessage(message.id, message.lease);
    await again.write("two");
    served.line.loseAnswers(/\/chunks$/);
    await again.flush().catch(() => undefined);
    expect(textOfEntry(await again.commit())).toBe("one two");
    await expect(session.continueMessage(message.id, message.lease)).rejects.toMatchObject({
      code: "stream_lost",
    });
  });

  test("is flushed when the client is closed", async () => {
    const client = await served.connect();
    const session = await client.createSession({ agent: "coder", createdBy: "ana" });
    const message = await session.openMessage({ role: "assistant" });
    await message.write("said");
    await client.close();
    expect(textOfEntry(await served.engine.getEntry(message.id))).toBe("said");
  });
});
