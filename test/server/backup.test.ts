/** A copy of the whole store over HTTP: complete, a snapshot, for operators only. */

import { createHash } from "node:crypto";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../src/client/index.ts";
import { open } from "../../src/index.ts";
import type { CopyStore } from "../../src/server/app-options.ts";
import type { LogRequest, RequestEvent } from "../../src/server/log.ts";
import { copyHere } from "../../src/server/routes/backup.ts";
import { openServer } from "../../src/server/serve.ts";
import { COPY_PREFIX } from "../../src/server/store-copy.ts";
import { createWorld, MARKER, type World } from "./world.ts";

let world: World;
let folder: string;
const shared = process.env["TMPDIR"];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "backscroll-test-"));
  // Only this process's copies: other test processes share the folder.
  setTemporaryFolder(folder);
  world = await createWorld(join(folder, "store.db"));
});
afterAll(async () => {
  await world.close();
  setTemporaryFolder(shared);
  rmSync(folder, { recursive: true });
});

const ask = (token = world.tokens.operator, headers: Record<string, string> = {}) =>
  fetch(`${world.url}/v1/backup`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  });

/** A loopback server over the same store. */
const serve = (copyStore: CopyStore, log: LogRequest = () => undefined) =>
  openServer(world.engine, { version: "0.0.0", port: 0, tenant: "acme", copyStore, log });

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** The tenant's audit rows of `run`. */
async function actsDuring(run: () => Promise<void>): Promise<unknown[]> {
  const acme = world.engine.forTenant("acme");
  const { next } = await acme.listChanges({ after: "end" });
  await run();
  const { changes } = await acme.listChanges({ after: next, limit: 500 });
  return changes.filter(({ kind }) => kind === "administered").map(({ details }) => details["act"]);
}

/** This process's open descriptors of backup files, where the system lists them. */
function descriptors(): string[] {
  const folder = "/proc/self/fd";
  const open = existsSync(folder) ? readdirSync(folder) : [];
  return open
    .map((name) => {
      try {
        return readlinkSync(join(folder, name));
      } catch {
        return "";
      }
    })
    .filter((path) => path.includes(COPY_PREFIX));
}

const leftovers = () => readdirSync(tmpdir()).filter((name) => name.startsWith(COPY_PREFIX));

function setTemporaryFolder(path: string | undefined): void {
  if (path === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = path;
}

describe("a backup", () => {
  test("is a complete store with every tenant, and comes with its hash", async () => {
    // Never compressed: the hash covers the sent bytes.
    const response = await ask(undefined, { "accept-encoding": "gzip" });
    const bytes = Buffer.from(await response.arrayBuffer());
    const digest = createHash("sha256").update(bytes).digest("base64");
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/vnd.sqlite3",
      "content-length": String(bytes.length),
      "content-digest": `sha-256=:${digest}:`,
      "cache-control": "no-store",
    });
    const file = join(folder, "copy.db");
    writeFileSync(file, bytes);
    const copy = await open(file, { inThread: true });
    const [status, original] = [await copy.status(), await world.engine.status()];
    expect(status.tenants.map(({ tenant, messages }) => [tenant, messages])).toEqual(
      original.tenants.map(({ tenant, messages }) => [tenant, messages]),
    );
    expect((await copy.verify()).ok).toBe(true);
    const found = await copy.forTenant("acme").searchSessions(MARKER);
    expect(found.hits.length).toBeGreaterThan(0);
    await copy.close();
    await expect.poll(leftovers).toEqual([]);
  });

  test("is a snapshot beside writers", async () => {
    const acme = world.engine.forTenant("acme");
    const session = await acme.createSession({ agent: "coder", createdBy: "ana" });
    let isDone = false;
    let appended = 0;
    const writing = (async () => {
      while (!isDone) {
        await session.append([
          { role: "user", actor: "ana", content: `question ${appended}` },
          { role: "assistant", actor: "coder", content: `answer ${appended}` },
        ]);
        appended++;
      }
    })();
    const client = await connect(world.url, { token: world.tokens.operator });
    const { body, sha256, bytes, rows } = await client.backup({ hash: createHash("sha256") });
    const copied = Buffer.from(await new Response(body).arrayBuffer());
    isDone = true;
    await writing;
    await client.close();
    expect([copied.length, createHash("sha256").update(copied).digest("hex")]).toEqual([
      bytes,
      sha256,
    ]);
    expect(rows).toBeGreaterThan(50);
    const file = join(folder, "moment.db");
    writeFileSync(file, copied);
    const copy = await open(file, { inThread: true });
    const { messageCount } = await copy.forTenant("acme").getSessionMeta(session.id);
    expect(messageCount % 2).toBe(0);
    expect(messageCount).toBeLessThanOrEqual(2 * appended);
    expect((await copy.verify()).ok).toBe(true);
    await copy.close();
  });

  test("is made one at a time, and the next as soon as one was read", async () => {
    const gate = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const slow = await serve(async (file, signal) => {
      started.resolve();
      await gate.promise;
      return copyHere(world.engine)(file, signal);
    });
    const acts = await actsDuring(async () => {
      const first = fetch(`${slow.url}/v1/backup`);
      await started.promise;
      const second = await fetch(`${slow.url}/v1/backup`);
      expect([second.status, await second.json()]).toMatchObject([503, { code: "store_busy" }]);
      expect(second.headers.get("retry-after")).toBe("10");
      // One backup per store, across servers.
      expect((await ask()).status).toBe(503);
      gate.resolve();
      expect((await (await first).arrayBuffer()).byteLength).toBeGreaterThan(0);
      const third = await fetch(`${slow.url}/v1/backup`);
      expect(third.status).toBe(200);
      await third.arrayBuffer();
    });
    // A refused backup leaves no audit row.
    expect(acts).toEqual(["backup", "backup"]);
    await slow.stop();
    expect([leftovers(), descriptors()]).toEqual([[], []]);
  });

  test("is not made for a HEAD request", async () => {
    const acts = await actsDuring(async () => {
      const { status, headers } = await fetch(`${world.url}/v1/backup`, {
        method: "HEAD",
        headers: { authorization: `Bearer ${world.tokens.operator}` },
      });
      expect([status, headers.get("content-type")]).toEqual([200, "application/vnd.sqlite3"]);
      expect(headers.has("content-digest")).toBe(false);
    });
    expect([acts, leftovers(), descriptors()]).toEqual([[], [], []]);
  });
});

describe("a failed backup", () => {
  test("does not disturb other requests where there is no temporary folder", async () => {
    setTemporaryFolder(join(folder, "nowhere"));
    const failed = await ask();
    setTemporaryFolder(folder);
    expect(failed.status).toBe(500);
    const again = await ask();
    expect(again.status).toBe(200);
    await again.arrayBuffer();
  });

  test("is deleted when its caller disconnects, which is no error of the server", async () => {
    const started = Promise.withResolvers<void>();
    const events: RequestEvent[] = [];
    const slow = await serve(
      async (file, signal) => {
        started.resolve();
        await aborted(signal);
        // Completes after the disconnect: the copy must be deleted unread.
        return copyHere(world.engine)(file, new AbortController().signal);
      },
      (event) => events.push(event),
    );
    const left = new AbortController();
    const asked = fetch(`${slow.url}/v1/backup`, { signal: left.signal });
    await started.promise;
    left.abort();
    await expect(asked).rejects.toThrow();
    await expect.poll(() => events.length).toBe(1);
    expect(events).toMatchObject([{ status: 499, failure: undefined }]);
    await slow.stop();
    expect([leftovers(), descriptors()]).toEqual([[], []]);
  });

  test("of a server that stops is store_closed", async () => {
    const started = Promise.withResolvers<void>();
    const slow = await serve(async (_file, signal) => {
      started.resolve();
      await aborted(signal);
      throw signal.reason;
    });
    const asked = fetch(`${slow.url}/v1/backup`);
    await started.promise;
    const stopped = slow.stop();
    const answer = await asked;
    expect([answer.status, await answer.json()]).toMatchObject([503, { code: "store_closed" }]);
    await stopped;
    expect(leftovers()).toEqual([]);
  });

  test("while it is sent leaves nothing behind, not even a descriptor", async () => {
    const body = (await ask()).body?.getReader();
    await body?.read();
    await body?.cancel();
    await expect.poll(() => [leftovers(), descriptors()]).toEqual([[], []]);
  });

  test("left by a killed server is removed a day later, by the next one", async () => {
    const make = (name: string, hours: number, files = ["store.db"]) => {
      const copy = mkdtempSync(join(tmpdir(), name));
      const time = Date.now() / 1000 - hours * 3600;
      const paths = files.map((file) => join(copy, file));
      for (const path of paths) writeFileSync(path, "");
      for (const path of [...paths, copy]) utimesSync(path, time, time);
      return copy;
    };
    const young = make(COPY_PREFIX, 23);
    const old = [
      make(COPY_PREFIX, 25),
      make(COPY_PREFIX, 25, ["store.db.partial", "store.db.partial-wal"]),
    ];
    const others = [
      make("backscroll-test-", 25),
      make("backscroll-backup-", 25),
      make(`${COPY_PREFIX}of-ana-`, 25),
      make(COPY_PREFIX, 25, ["store.db", "letters.txt"]),
    ];
    await (await serve(copyHere(world.engine))).stop();
    await expect.poll(() => old.some((path) => existsSync(path))).toBe(false);
    const stay = [young, ...others];
    expect(stay.filter((path) => !existsSync(path))).toEqual([]);
    for (const path of stay) rmSync(path, { recursive: true });
  });
});

test("a client detects a corrupted backup", async () => {
  const cut: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (!String(input).endsWith("/v1/backup")) return response;
    const bytes = new Uint8Array(await response.arrayBuffer());
    bytes[1_000] = (bytes[1_000] ?? 0) ^ 1;
    const { status, headers } = response;
    return new Response(bytes, { status, headers });
  };
  const client = await connect(world.url, { token: world.tokens.operator, fetch: cut });
  const { body } = await client.backup({ hash: createHash("sha256") });
  await expect(new Response(body).arrayBuffer()).rejects.toMatchObject({
    code: "store_unavailable",
  });
  const reader = await connect(world.url, { token: world.tokens.reader });
  await expect(reader.backup()).rejects.toMatchObject({ code: "forbidden" });
  await client.close();
  await reader.close();
});
