import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "./connect.ts";

const DISPATCHER = Symbol.for("undici.globalDispatcher.1");

interface Dispatcher {
  close(): Promise<void>;
}
type DispatcherClass = new (options: { readonly headersTimeout: number }) => Dispatcher;

/** A server that identifies itself, and leaves every other answer to the test. */
async function serveHeld(): Promise<{
  readonly url: string;
  readonly held: Map<string, ServerResponse>;
}> {
  const held = new Map<string, ServerResponse>();
  const server = createServer(({ url = "" }, response) => {
    if (url !== "/v1/access") held.set(url, response);
    else response.end('{"server":"backscroll","tenant":"default"}');
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, held };
}

test("a slow answer is awaited beyond the timeout of fetch itself", async () => {
  const { url, held } = await serveHeld();
  const client = await connect(url, { retries: 0 });
  // Node's own limit is 300 seconds: this one is of the same kind, but short.
  const known = globalThis as { [DISPATCHER]?: Dispatcher };
  const usual = known[DISPATCHER] as Dispatcher;
  const hasty = new (usual.constructor as DispatcherClass)({ headersTimeout: 100 });
  known[DISPATCHER] = hasty;
  onTestFinished(async () => {
    known[DISPATCHER] = usual;
    await client.close();
    await hasty.close();
  });
  const [checked, copied] = [client.checkIntegrity(), client.backup()];
  await expect.poll(() => held.size).toBe(2);
  // A request that is not slow starts later and times out: so would the others.
  await expect(client.status()).rejects.toMatchObject({
    code: "store_unavailable",
    message: expect.stringContaining("UND_ERR_HEADERS_TIMEOUT"),
  });
  held.get("/v1/admin/store/check")?.end('{"problems":[]}');
  const digest = `sha-256=:${"A".repeat(43)}=:`;
  held
    .get("/v1/backup")
    ?.writeHead(200, { "content-digest": digest, "content-length": 4, "backscroll-rows": 7 })
    .end("copy");
  expect(await checked).toEqual([]);
  const { body, rows } = await copied;
  expect([rows, await new Response(body).text()]).toEqual([7, "copy"]);
});
