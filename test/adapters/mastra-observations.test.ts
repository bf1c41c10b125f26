/** The observational memory of Mastra's memory domain. */

import { MemoryStorage } from "@mastra/core/storage";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mastraMemory } from "../../src/adapters/mastra/index.ts";
import { WORLDS, type World } from "../support/worlds.ts";

const AT = new Date(Date.UTC(2026, 0, 2));

const chunk = (name: string) => ({
  cycleId: name,
  observations: `saw a ${name}`,
  tokenCount: 10,
  messageIds: [name],
  messageTokens: 100,
  lastObservedAt: AT,
});

describe.each(WORLDS)("on %s", (_, start) => {
  let world: World;
  let memory: MemoryStorage;
  beforeAll(async () => {
    world = await start();
    memory = mastraMemory(world.engine, { MemoryStorage });
  });
  afterAll(() => world.close());

  const begin = (threadId: string | null, resourceId = "ana") => {
    const scope = threadId === null ? ("resource" as const) : ("thread" as const);
    const config = { observation: { tokens: 5, model: "m" } };
    return memory.initializeObservationalMemory({ threadId, resourceId, scope, config });
  };

  test("observations of threads and resources are separate, and found by their words", async () => {
    expect(memory.supportsObservationalMemory).toBe(true);
    const ofThread = await begin("t1");
    const ofResource = await begin(null);
    await memory.updateActiveObservations({
      id: ofThread.id,
      observations: "Ana likes the quokka.",
      tokenCount: 7,
      lastObservedAt: AT,
      observedMessageIds: ["m1"],
    });
    await memory.setPendingMessageTokens(ofThread.id, 12);
    await memory.updateObservationalMemoryConfig({
      id: ofThread.id,
      config: { observation: { tokens: 6 } },
    });
    expect(await memory.getObservationalMemory("t1", "ana")).toEqual({
      ...ofThread,
      activeObservations: "Ana likes the quokka.",
      observationTokenCount: 7,
      totalTokensObserved: 7,
      pendingMessageTokens: 12,
      lastObservedAt: AT,
      observedMessageIds: ["m1"],
      config: { observation: { tokens: 6, model: "m" } },
      updatedAt: expect.any(Date),
    });
    expect(await memory.getObservationalMemory(null, "ana")).toEqual(ofResource);
    expect(await memory.getObservationalMemory(null, "bo")).toBeNull();
    const [hit] = await world.engine.records.search("quokka", { namespace: "mastra" });
    expect(hit?.key).toContain("t1");
    await memory.clearObservationalMemory(null, "ana");
    expect(await memory.getObservationalMemory(null, "ana")).toBeNull();
    await expect(memory.setObservingFlag(ofResource.id, true)).rejects.toThrow("not found");
  });

  test("concurrent chunks and flags are all kept, and become active", async () => {
    const { id } = await begin("t2");
    const other = mastraMemory(world.engine, { MemoryStorage });
    const names = ["bilby", "numbat", "potoroo", "quoll"];
    await Promise.all([
      ...names.map((name, i) =>
        (i % 2 === 0 ? memory : other).updateBufferedObservations({ id, chunk: chunk(name) }),
      ),
      memory.setReflectingFlag(id, true),
      other.setBufferingObservationFlag(id, true, 44),
      other.setBufferingReflectionFlag(id, true),
    ]);
    const buffered = await memory.getObservationalMemory("t2", "ana");
    expect(buffered).toMatchObject({
      isReflecting: true,
      isBufferingObservation: true,
      isBufferingReflection: true,
      lastBufferedAtTokens: 44,
    });
    const cycles = buffered?.bufferedObservationChunks?.map(({ cycleId }) => cycleId);
    expect(cycles?.toSorted()).toEqual(names);
    expect(buffered?.bufferedObservationChunks?.[0]?.lastObservedAt).toEqual(AT);
    const swap = { id, activationRatio: 1, messageTokensThreshold: 400, currentPendingTokens: 400 };
    expect(await memory.swapBufferedToActive(swap)).toMatchObject({ chunksActivated: 4 });
    expect(await memory.swapBufferedToActive(swap)).toMatchObject({ chunksActivated: 0 });
    const active = await memory.getObservationalMemory("t2", "ana");
    for (const name of names) expect(active?.activeObservations).toContain(name);
    expect(active?.bufferedObservationChunks).toBeUndefined();
  });

  test("a reflection begins a generation, and later observations follow it", async () => {
    const first = await begin("t3");
    const { id } = first;
    const noted = { id, tokenCount: 1, lastObservedAt: AT };
    await memory.updateActiveObservations({ ...noted, observations: "one\ntwo\nthree" });
    const swap = async () => {
      const currentRecord = (await memory.getObservationalMemory("t3", "ana")) ?? first;
      return memory.swapBufferedReflectionToActive({ currentRecord, tokenCount: 3 });
    };
    await expect(swap()).rejects.toThrow("No buffered reflection to swap");
    const counts = { tokenCount: 2, inputTokenCount: 5, reflectedObservationLineCount: 2 };
    await memory.updateBufferedReflection({ id, reflection: "both", ...counts });
    const next = await swap();
    expect(next).toMatchObject({
      originType: "reflection",
      generationCount: 1,
      activeObservations: "both\n\nthree",
      totalTokensObserved: 1,
      lastObservedAt: AT,
    });
    expect(await memory.getObservationalMemory("t3", "ana")).toEqual(next);
    await memory.insertObservationalMemoryRecord({ ...first, id: "copy", generationCount: 7 });
    const history = await memory.getObservationalMemoryHistory("t3", "ana");
    expect(history.map(({ generationCount }) => generationCount)).toEqual([7, 1, 0]);
    const page = await memory.getObservationalMemoryHistory("t3", "ana", 1, { offset: 1 });
    expect(page).toEqual([next]);
    const before = { to: new Date(first.createdAt.getTime() - 1) };
    expect(await memory.getObservationalMemoryHistory("t3", "ana", 9, before)).toEqual([]);
    await memory.deleteThread({ threadId: "t3" });
    expect(await memory.getObservationalMemory("t3", "ana")).toBeNull();
  });
});
