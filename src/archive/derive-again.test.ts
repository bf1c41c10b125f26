import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFolder } from "../../test/support/folder.ts";
import { fixture } from "../../test/support/transcripts.ts";
import type { Engine } from "../engine/engine.ts";
import { batchesOf } from "../ingest/batches.ts";
import { CLAUDE_CODE } from "../ingest/claude-code/claude-code.ts";
import { PI } from "../ingest/pi/pi.ts";
import type { ImportedEntry, ImportedSession, TranscriptSource } from "../ingest/source.ts";
import { open } from "../open.ts";
import { deriveAgain } from "./derive-again.ts";
import { ingest } from "./ingest.ts";
import { readOriginal } from "./originals.ts";

const FIXTURE = join(import.meta.dirname, "../../test/fixtures/pi/version-3.jsonl");

/** An older reader that skipped the assistant's messages. */
const OLD: TranscriptSource = {
  ...PI,
  read(input) {
    const transcript = PI.read(input);
    const sessions = (async function* () {
      for await (const session of transcript.sessions) {
        yield { ...session, entries: withoutAnswers(session.entries) };
      }
    })();
    return { ...transcript, problems: transcript.problems, sessions };
  },
};
const NEW: TranscriptSource = { ...PI, version: 2 };

const UNREAD = "(not read)";

async function* withoutAnswers(entries: ImportedSession["entries"]): AsyncGenerator<ImportedEntry> {
  for await (const batch of batchesOf(entries)) {
    for (const entry of batch) {
      yield entry.role === "assistant"
        ? { ...entry, blocks: [{ type: "text", text: UNREAD }] }
        : entry;
    }
  }
}

async function world() {
  const folder = createFolder();
  const environment = {
    home: folder,
    variables: { WORKSTATION_ID: "w1" },
    platform: "linux" as const,
  };
  mkdirSync(join(folder, "chats"));
  const file = join(folder, "chats", "a.jsonl");
  copyFileSync(FIXTURE, file);
  const memory = await open(":memory:");
  await ingest(memory, { environment, paths: [file], sources: [OLD] });
  rmSync(file);
  const { sessions } = await memory.listSessions();
  return { memory, environment, id: sessions[0]?.id ?? "", file };
}

async function answers(memory: Engine, id: string): Promise<string> {
  const { messages } = await memory.listMessages(id, { limit: 100 });
  return JSON.stringify(messages.filter(({ role }) => role === "assistant"));
}

test("an improved reader derives more from the kept bytes, under the same ids", async () => {
  const { memory, environment, id, file } = await world();
  await memory.session(id).update({ title: "Mine" });
  const before = await memory.listMessages(id, { limit: 100 });
  expect(await answers(memory, id)).toContain(UNREAD);
  const report = await deriveAgain(memory, { environment, sources: [NEW] });
  expect(report).toEqual({ originals: 1, read: 1, failed: 0, sessions: 1, extended: 0 });
  const { sessions } = await memory.listSessions();
  expect(sessions).toMatchObject([{ id, title: "Mine" }]);
  expect(await answers(memory, id)).not.toContain(UNREAD);
  const after = await memory.listMessages(id, { limit: 100 });
  expect(after.messages.map((each) => each.id)).toEqual(before.messages.map((each) => each.id));
  const [original] = await memory.originals.list({ sessionId: id });
  expect(original).toMatchObject({ path: file, reader: 2 });
  expect((await memory.verify()).ok).toBe(true);
  // The current reader has read everything.
  const again = await deriveAgain(memory, { environment, sources: [NEW] });
  expect(again).toMatchObject({ originals: 1, read: 0, sessions: 0 });
  await memory.close();
});

test("messages appended here stay, and new ones are added", async () => {
  const { memory, environment, id } = await world();
  await memory.session(id).append({ role: "user", actor: "ana", content: "said here" });
  const report = await deriveAgain(memory, { environment, sources: [NEW] });
  expect(report).toMatchObject({ read: 1, sessions: 0, extended: 1 });
  const { messages } = await memory.listMessages(id, { limit: 100 });
  expect(messages.at(-1)?.blocks).toMatchObject([{ text: "said here" }]);
  await memory.close();
});

test("deleted sessions stay deleted, and unreadable files are reported", async () => {
  const { memory, environment, id, file } = await world();
  const [original] = await memory.originals.list();
  if (original === undefined) throw new Error("there is no original");
  await memory.originals.put("w1", { ...original, from: 0, parts: [] });
  const messages: (string | undefined)[] = [];
  const report = await deriveAgain(memory, {
    environment,
    sources: [NEW],
    onOutcome: ({ message }) => messages.push(message),
  });
  expect(report).toMatchObject({ read: 0, failed: 1 });
  expect(messages).toEqual([expect.stringContaining(file)]);
  await expect(readOriginal(memory, original).next()).rejects.toThrow(/damaged or incomplete/);
  await memory.deleteSession(id);
  expect(await deriveAgain(memory, { environment, sources: [NEW] })).toMatchObject({
    originals: 0,
  });
  expect((await memory.listSessions()).sessions).toEqual([]);
  await memory.close();
});

test("companion files are kept with their transcript and present when it is derived again", async () => {
  const home = createFolder();
  const variables = { WORKSTATION_ID: "w1" };
  const environment = { home, variables, platform: "linux" as const };
  const id = "5e55a000-0000-4000-8000-000000000003";
  const project = join(home, ".claude/projects/p");
  const outputs = join(project, id, "tool-results");
  mkdirSync(outputs, { recursive: true });
  writeFileSync(join(project, `${id}.jsonl`), fixture("claude-code/persisted.jsonl"));
  writeFileSync(join(outputs, "b1.txt"), "first line\nthe whole output\n");
  await using memory = await open(":memory:");
  await ingest(memory, { environment, paths: [project], sources: [CLAUDE_CODE] });
  rmSync(project, { recursive: true });
  const { sessions } = await memory.listSessions();
  const session = sessions[0]?.id ?? "";
  const kept = async () =>
    (await memory.originals.list({ sessionId: session })).map(({ path }) => path);
  const paths = [join(project, `${id}.jsonl`), join(outputs, "b1.txt")];
  expect(await kept()).toEqual(paths);
  const report = await deriveAgain(memory, { environment, sources: [CLAUDE_CODE], force: true });
  expect(report).toMatchObject({ originals: 1, read: 1, failed: 0, sessions: 1 });
  const { messages } = await memory.listMessages(session, { limit: 100 });
  expect(JSON.stringify(messages)).toContain("the whole output");
  expect(await kept()).toEqual(paths);
  await memory.deleteSession(session);
  expect(await memory.originals.list()).toEqual([]);
});
