/**
 * A process that writes until it is killed.
 *
 * It announces each operation before, and confirms it after the acknowledgement: the test then knows
 * which writes the store must have, and which it may have.
 */

import { type Engine, type Entry, open, type SessionHandle } from "../../src/index.ts";
import { receiveTask, say } from "./child-task.ts";
import { type CrashLine, type CrashTask, written } from "./crash-lines.ts";

await writeForever(await receiveTask<CrashTask>());

async function writeForever(task: CrashTask): Promise<void> {
  let engine = await openEngine(task);
  await engine.createSession({ id: task.ownSession, agent: "crash", createdBy: "test" });
  say({ did: "create" } satisfies CrashLine);
  for (let n = 0; ; n++) {
    const own = await engine.getSession(task.ownSession);
    const shared = await engine.getSession(task.sharedSession);
    const session = n % 3 === 0 ? shared : own;
    switch (task.mode) {
      case "single":
        await append(session, 1, n);
        break;
      case "batch":
        await append(session, 2 + (n % 30), n);
        break;
      case "stream":
        await stream(own, n);
        break;
      case "edit":
        await edit(own, n);
        break;
      case "reopen":
        await append(session, 1 + (n % 3), n);
        await engine.close();
        engine = await openEngine(task);
        break;
    }
  }
}

function openEngine(task: CrashTask): Promise<Engine> {
  const { address, durability, inThread, leaseMs } = task;
  return open(address, { durability, inThread, leaseMs, flushMs: 5 });
}

async function append(session: SessionHandle, count: number, n: number): Promise<void> {
  say({ will: "append", session: session.id, entries: count } satisfies CrashLine);
  const messages = Array.from({ length: count }, (_, i) => ({
    role: "user" as const,
    actor: `writer-${process.pid}`,
    content: textOf(n + i),
  }));
  const entries = await session.append(messages);
  did(session, entries);
}

/** Every third message stays open; the others are committed. */
async function stream(session: SessionHandle, n: number): Promise<void> {
  const message = await session.openMessage({ role: "assistant", actor: "crash" });
  let text = "";
  for (let i = 0; i < 3; i++) {
    const chunk = `${textOf(n * 3 + i).slice(0, 50)}\n`;
    await message.write(chunk);
    await message.flush();
    text += chunk;
    say({ did: "flush", id: message.id, text } satisfies CrashLine);
  }
  if (n % 3 === 2) return;
  say({ will: "append", session: session.id, entries: 1 } satisfies CrashLine);
  did(session, [await message.commit()]);
}

async function edit(session: SessionHandle, n: number): Promise<void> {
  say({ will: "append", session: session.id, entries: 1 } satisfies CrashLine);
  const entry = await session.append({ role: "user", content: textOf(n) });
  did(session, [entry]);
  say({ will: "append", session: session.id, entries: 1 } satisfies CrashLine);
  did(session, [await session.edit(entry.id, textOf(n + 1))]);
}

function did(session: SessionHandle, entries: readonly Entry[]): void {
  say({ did: "append", session: session.id, entries: entries.map(written) } satisfies CrashLine);
}

/** One text in sixteen is large enough for a blob. */
function textOf(n: number): string {
  const line = `message ${n} of ${process.pid}: `;
  return n % 16 === 7 ? line.repeat(600) : line + "x".repeat(n % 200);
}
