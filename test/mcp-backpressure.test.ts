import { connect as connectSocket } from "node:net";
import { expect, test } from "vitest";
import type { Access } from "../src/model/access.ts";
import { open } from "../src/open.ts";
import { connectHttp } from "./support/mcp-client.ts";
import { startMcpHttp } from "./support/mcp-http.ts";

const access: Access = {
  tenant: "acme",
  scope: "write",
  actor: "coder",
  actAs: [],
  operator: false,
  tokenId: null,
};

/** The subscription request of the official client. */
async function listenRequest(url: URL, uris: readonly string[]): Promise<Request> {
  const send = globalThis.fetch;
  const { promise, resolve } = Promise.withResolvers<Request>();
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    if ((await request.clone().text()).includes("subscriptions/listen")) resolve(request.clone());
    return send(request);
  };
  try {
    const client = await connectHttp(url, "2026-07-28");
    const subscription = await client.listen({ resourceSubscriptions: [...uris] });
    await subscription.close();
    await client.close();
    return await promise;
  } finally {
    globalThis.fetch = send;
  }
}

test("a listener that does not read is cut off, and others continue", async () => {
  await using engine = await open(":memory:");
  const acme = engine.forTenant("acme");
  const sessions = await Promise.all(
    Array.from({ length: 800 }, (_, i) =>
      acme.createSession({ agent: "a", createdBy: "ana", id: `${i}${"-long".repeat(24)}` }),
    ),
  );
  const http = await startMcpHttp(engine, { access });
  const uris = sessions.flatMap(({ id }) => [`session://${id}`, `session://${id}/messages`]);

  const listener = await connectHttp(http.url, "2026-07-28");
  let heard = 0;
  listener.setNotificationHandler("notifications/resources/updated", () => {
    heard++;
  });
  await listener.listen({ resourceSubscriptions: [uris[0] ?? ""] });

  const request = await listenRequest(http.url, uris);
  const body = await request.text();
  const socket = connectSocket(Number(http.url.port), "127.0.0.1");
  let isOver = false;
  socket
    .on("error", () => undefined)
    .on("close", () => {
      isOver = true;
    });
  const headers = [...request.headers].map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const length = `content-length: ${Buffer.byteLength(body)}\r\n`;
  socket.write(`POST /mcp HTTP/1.1\r\nhost: ${http.url.host}\r\n${headers}${length}\r\n${body}`);
  const first = await new Promise<string>((resolve) => {
    socket.once("data", (data) => resolve(data.toString("latin1")));
  });
  expect(first).toContain("200 OK");
  socket.pause();

  // An unread socket does not report its close; the number of buffered bytes does.
  let round = 0;
  const dropped = () => http.drops() > 0;
  for (; round < 400 && !dropped(); round++) {
    await Promise.all(sessions.map((session) => session.setTitle(`title ${round}`)));
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  expect(dropped()).toBe(true);
  socket.resume();
  await expect.poll(() => isOver).toBe(true);

  const before = heard;
  await sessions[0]?.setTitle("still heard");
  await expect.poll(() => heard).toBeGreaterThan(before);
  await listener.close();
  await http.close();
  expect(http.errors).toEqual([]);
});
