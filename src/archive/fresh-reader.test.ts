import { truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeTurn } from "../../test/support/claude-transcript.ts";
import { createFolder } from "../../test/support/folder.ts";
import { open } from "../open.ts";
import { FreshReader } from "./fresh-reader.ts";

const TIME = 60_000;

test("reads new lines, and nothing twice", async () => {
  const home = createFolder();
  const [here, there] = [join(home, "here"), join(home, "there")];
  await using memory = await open(":memory:");
  const errors: unknown[] = [];
  const reader = new FreshReader(memory, {
    environment: { home, variables: { WORKSTATION_ID: "desk" }, platform: "linux" },
    cwd: here,
    budgetMs: TIME,
    onError: (error) => errors.push(error),
  });
  const count = async () => (await memory.tenantStatus())?.entries;
  writeTurn(home, { id: "mine", cwd: here, text: "the walrus is mine" });
  writeTurn(home, { id: "theirs", cwd: there, text: "the walrus is theirs" });
  expect(await reader.read()).toEqual({ files: 0, bytes: 0, complete: true });
  const before = await count();
  expect((await memory.searchSessions("walrus")).hits).toHaveLength(2);
  // Concurrent calls: the second waits for the first.
  writeTurn(home, { id: "mine", cwd: here, text: "and the pelican", turn: 2 });
  const both = await Promise.all([reader.read(), reader.read()]);
  expect(both.map(({ files }) => files)).toEqual([0, 0]);
  expect((await memory.searchSessions("pelican")).hits).toHaveLength(1);
  expect(await count()).toBe((before ?? 0) + 1);
  expect(errors).toEqual([]);
});

test("files beyond the time limit are counted, and the newest file is read first", async () => {
  const home = createFolder();
  const here = join(home, "here");
  await using memory = await open(":memory:");
  const reader = new FreshReader(memory, {
    environment: { home, variables: { WORKSTATION_ID: "desk" }, platform: "linux" },
    // This clock stands still, so only sizes decide.
    cwd: here,
    budgetMs: TIME,
    clock: () => 0,
    onError: (error) => expect(error).toBe(undefined),
  });
  const large = writeTurn(home, { id: "large", cwd: here, text: "the walrus is large" });
  const bytes = 8 * 1024 * TIME + 1;
  truncateSync(large, bytes);
  writeTurn(home, { id: "small", cwd: here, text: "the walrus is small" });
  expect(await reader.read()).toEqual({ files: 1, bytes, complete: true });
  expect((await memory.searchSessions("walrus")).hits).toMatchObject([
    { window: [{ snippet: "the walrus is small" }] },
  ]);
});

test("a time limit of zero still gives an answer", async () => {
  const home = createFolder();
  await using memory = await open(":memory:");
  writeTurn(home, { id: "mine", cwd: home, text: "the walrus" });
  const reader = new FreshReader(memory, {
    environment: { home, variables: { WORKSTATION_ID: "desk" }, platform: "linux" },
    cwd: home,
    budgetMs: 0,
    onError: (error) => expect(error).toBe(undefined),
  });
  expect(await reader.read()).toMatchObject({ complete: false });
  await reader.ended();
});
