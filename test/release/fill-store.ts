/**
 * Fills a store with one of everything that a release keeps: the content of the stores in
 * `test/fixtures/release-*`. Later versions may fill more; stored fixtures never change.
 */

import { ingest } from "../../src/archive/index.ts";
import type { Engine } from "../../src/index.ts";

/** Larger than what an entry's row holds: it becomes a compressed payload of its own. */
const LARGE_LINES = 400;

/** What only the filler learns, because a store keeps its hash alone. */
export interface Secrets {
  readonly token: string;
}

/** `transcripts` is a folder of agents' files. */
export async function fillStore(engine: Engine, transcripts: string): Promise<Secrets> {
  await fillConversations(engine);
  await fillErased(engine);
  await ingest(engine, {
    paths: [transcripts],
    environment: { home: transcripts, platform: "linux", variables: { WORKSTATION_ID: "release" } },
  });
  await fillNotes(engine);
  const acme = engine.forTenant("acme");
  const other = await acme.createSession({ id: "acme-1", agent: "helper", createdBy: "bo" });
  await other.append({ role: "user", actor: "bo", content: "The zeppelin of another tenant" });
  await engine.embedStored();
  await engine.maintainIndex("flush");
  await acme.maintainIndex("flush");
  // After the flush: the tail of the index.
  const late = await engine.createSession({ id: "late-1", agent: "coder", createdBy: "ana" });
  await late.append({ role: "user", actor: "ana", content: "A marmalade after the last segment" });
  const { token } = await engine.createToken({ scope: "write", actor: "ana", label: "release" });
  return { token };
}

async function fillConversations(engine: Engine): Promise<void> {
  const session = await engine.createSession({
    id: "chat-1",
    agent: "coder",
    createdBy: "ana",
    title: "The cron lock",
    metadata: { ticket: 42, nested: { deep: ["ä", "\u{1F980}"] } },
  });
  const ask = await session.append({ role: "user", actor: "ana", content: "Why twice?" });
  await session.append({
    role: "assistant",
    actor: "coder",
    model: "claude-opus-4-5",
    usage: { inputTokens: 1200, outputTokens: 80, cacheReadTokens: 900, cacheCreationTokens: 100 },
    content: [
      { type: "thinking", thinking: "The lock expires.", signature: "c2ln" },
      { type: "text", text: "I look at the lock." },
      { type: "tool_use", id: "call-1", name: "Bash", input: { command: "grep -n lock jobs.ts" } },
    ],
  });
  await session.append({
    role: "tool",
    actor: "Bash",
    content: [
      {
        type: "tool_result",
        toolUseId: "call-1",
        content: numbered("a line of a long output about heliotropes", LARGE_LINES),
        isError: false,
      },
    ],
  });
  const answer = await session.append({
    role: "assistant",
    actor: "coder",
    content: "It runs twice because the lock expires after 30 s.",
  });
  await session.edit(ask.id, "Why does the nightly cron job run twice?");
  await session.append({ role: "assistant", actor: "coder", content: "The lock is too short." });
  await session.label(answer.id, "diagnosis");
  await session.pin(answer.id);
  await session.appendCustom("release.note", { kept: true });
  const fork = await session.fork({ id: "fork-1", createdBy: "ana" });
  await fork.append({ role: "user", actor: "ana", content: "A fork asks about periwinkles." });

  const streamed = await session.openMessage({ role: "assistant", actor: "coder" });
  await streamed.write("A stream that ");
  await streamed.abort("aborted");

  const long = await engine.createSession({ id: "long-1", agent: "coder", createdBy: "ana" });
  for (let i = 1; i <= 30; i++) {
    await long.append({ role: "user", actor: "ana", content: `Question ${i} about the harbour` });
    await long.append({ role: "assistant", actor: "coder", content: `Answer ${i}: the pier` });
  }
  await long.compact({ keep: { messages: 6 } });
  await long.append({ role: "user", actor: "ana", content: "And after the compaction?" });
}

async function fillErased(engine: Engine): Promise<void> {
  for (const retention of ["audit-only", "ephemeral"] as const) {
    const session = await engine.createSession({
      id: `erased-${retention}`,
      agent: "coder",
      createdBy: "ana",
      retention,
    });
    await session.append({ role: "user", actor: "ana", content: "My door code is xylophone." });
    await session.append({ role: "assistant", actor: "coder", content: "Noted." });
    await session.append({ role: "user", actor: "ana", content: "Thanks." });
    const summary = "Ana told her door code.";
    await session.compact({ keep: { messages: 1 }, before: () => ({ summary }) });
  }
  const removed = await engine.createSession({ id: "removed-1", agent: "coder", createdBy: "ana" });
  const secret = await removed.append({ role: "user", actor: "ana", content: "quicksilver" });
  await removed.append({ role: "user", actor: "ana", content: "What remains: basalt." });
  await removed.removeEntry(secret.id);
  const gone = await engine.createSession({ id: "deleted-1", agent: "coder", createdBy: "ana" });
  await gone.append({ role: "user", actor: "ana", content: "A deleted tarpaulin" });
  await gone.delete();
}

async function fillNotes(engine: Engine): Promise<void> {
  const session = await engine.getSession("chat-1");
  await session.remember("lock", "The lock must outlive the job.");
  await engine.putMemory({ agent: "reviewer", name: "style", content: "Prefers short names." });
  const facts = await session.addFacts([
    { subject: "the job", predicate: "takes", object: "50 s" },
    { subject: "the job", predicate: "takes", object: "40 s", confidence: 0.5 },
  ]);
  const [older, newer] = facts;
  if (older !== undefined && newer !== undefined) await engine.supersedeFact(older.id, newer.id);
  await engine.routes.put("agent:coder:main", { sessionId: "long-1" });
  await engine.routes.put("agent:coder:main", { sessionId: "chat-1", reason: "reset" });
  await engine.records.put({ namespace: "release", key: "a", value: { n: 1 } });
  await engine.records.put({ namespace: "release", key: "b", value: new Uint8Array([0, 255, 7]) });
}

function numbered(text: string, lines: number): string {
  return Array.from({ length: lines }, (_, i) => `${i + 1}: ${text}`).join("\n");
}
