/** A copy of the whole store over HTTP: whole, of one moment, and nobody's but an operator's. */

import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../src/client/index.ts";
import { open } from "../../src/index.ts";
import { createWorld, MARKER, type World } from "./world.ts";

let world: World;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "backscroll-test-"));
  world = await createWorld(join(folder, "store.db"));
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

const ask = (token = world.tokens.operator, headers: Record<string, string> = {}) =>
  fetch(`${world.url}/v1/backup`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  });

/** Copies that were made since the tests began and are not yet gone. */
const copies = () => readdirSync(tmpdir()).filter((name) => /^backscroll-backup-/.test(name));
const before = copies();
const leftovers = () => copies().filter((name) => !before.includes(name));

describe("a backup", () => {
  test("is a store of its own, with every tenant, and comes with its hash", async () => {
    // Who may unpack is sent it as it is: the hash is of what is sent.
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
    const copy = await open(file);
    const [status, original] = [await copy.status(), await world.engine.status()];
    expect(status.tenants.map(({ tenant, messages }) => [tenant, messages])).toEqual(
      original.tenants.map(({ tenant, messages }) => [tenant, messages]),
    );
    expect((await copy.verify()).ok).toBe(true);
    const found = await copy.forTenant("acme").searchSessions(MARKER);
    expect(found.hits.length).toBeGreaterThan(0);
    await copy.close();
    await expect.poll(leftovers, { timeout: 20_000 }).toEqual([]);
  });

  test("is one moment of a store that others go on writing to", async () => {
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

  test("is made one at a time, and one that nobody reads makes room for the next", async () => {
    const stopped = new AbortController();
    const first = await fetch(`${world.url}/v1/backup`, {
      headers: { authorization: `Bearer ${world.tokens.operator}` },
      signal: stopped.signal,
    });
    // So small a copy may be on its way as a whole; then the next one is free to be made.
    const second = await ask();
    if (second.status !== 200) {
      expect([second.status, await second.json()]).toMatchObject([503, { code: "store_busy" }]);
      expect(second.headers.get("retry-after")).toBe("10");
    } else await second.arrayBuffer();
    stopped.abort();
    await first.arrayBuffer().catch(() => undefined);
    const again = async () => {
      const { status, body } = await ask();
      // Not to stand in the way of the next one.
      await body?.cancel();
      return status;
    };
    await expect.poll(again, { timeout: 20_000 }).toBe(200);
    await expect.poll(leftovers, { timeout: 20_000 }).toEqual([]);
  });
});

test("a client hears of a backup that is not what was sent", async () => {
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
