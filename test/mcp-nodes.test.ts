import { expect, test } from "vitest";
import type { Access } from "../src/model/access.ts";
import { open } from "../src/open.ts";
import { createFolder } from "./support/folder.ts";
import { call, callFull, connectHttp, connectStdio } from "./support/mcp-client.ts";
import { startMcpHttp } from "./support/mcp-http.ts";
import { createDatabase, query } from "./support/postgres.ts";

const access: Access = {
  tenant: "acme",
  scope: "write",
  actor: "coder",
  actAs: [],
  operator: false,
  tokenId: null,
};

test("two nodes on one PostgreSQL answer alike, and each notifies of the other's writes", async () => {
  const address = await createDatabase();
  await using first = await open(address);
  await using second = await open(address);
  const [here, there] = [
    await startMcpHttp(first, { access }),
    await startMcpHttp(second, { access }),
  ];
  const session = await first
    .forTenant("acme")
    .createSession({ agent: "coder", createdBy: "ana", title: "Lock" });
  const listener = await connectHttp(here.url, "2026-07-28");
  const writer = await connectHttp(there.url, "2025-11-25");
  const uri = `session://${session.id}`;
  const told: string[] = [];
  listener.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    told.push(params.uri);
  });
  await listener.listen({ resourceSubscriptions: [uri] });
  const said = { session_id: session.id, role: "assistant", content: "the heron is back" };
  expect((await call(writer, "append_message", said)).data).toMatchObject({ msg_idx: 0 });
  await expect.poll(() => told).toEqual([uri]);
  const { data } = await callFull(listener, "search_sessions", { query: "heron" });
  expect(data.hits).toMatchObject([{ session_id: session.id, window: [{ actor: "coder" }] }]);

  await Promise.all([listener.close(), writer.close()]);
  await Promise.all([here.close(), there.close()]);
  expect([here.errors, there.errors]).toEqual([[], []]);
});

test("one of several processes on a machine follows its transcripts", async () => {
  const folder = createFolder();
  const address = await createDatabase();
  const { client, stderr } = await connectStdio("2025-11-25", ["--db", address], {
    env: { HOME: folder, WORKSTATION_ID: "desk" },
  });
  await client.listTools();
  const leases = async () =>
    (await query(address, "SELECT name FROM leases WHERE name LIKE 'ingest/%'")).map(
      ({ name }) => name,
    );
  await expect.poll(leases).toEqual(["ingest/default/desk"]);
  // `close` waits for two seconds: the process may end later.
  await client.close();
  await expect.poll(leases).toEqual([]);
  expect(stderr()).toBe("");
});
