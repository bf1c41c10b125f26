/** Whose words a session has: set by the way in, and never by who asks. */

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { ingest } from "../src/archive/index.ts";
import { open } from "../src/index.ts";
import { provenanceOf } from "../src/model/session.ts";
import { openServer } from "../src/server/index.ts";
import { callCli } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";

const line = (sessionId: string, cwd: string) =>
  `${JSON.stringify({
    type: "user",
    sessionId,
    cwd,
    uuid: `${sessionId}-1`,
    parentUuid: null,
    timestamp: "2026-01-01T00:00:00Z",
    message: { role: "user", content: `hello from ${sessionId}` },
  })}\n`;

test("what agents left in their folders is own, what came with a repository is foreign", async () => {
  const home = createFolder();
  const place = join(home, ".claude", "projects", "-work");
  const repository = join(home, "clone", "transcripts");
  const elsewhere = join(home, "kept");
  for (const folder of [place, repository, elsewhere]) mkdirSync(folder, { recursive: true });
  execFileSync("git", ["init", "-q", join(home, "clone")]);
  const file = (folder: string, id: string) => {
    const path = join(folder, `${id}.jsonl`);
    writeFileSync(path, line(id, "/work"));
    return path;
  };
  const ids = ["00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"];
  file(place, ids[0] ?? "");
  file(elsewhere, ids[1] ?? "");
  file(repository, "00000000-0000-4000-8000-00000000000c");
  const engine = await open(join(home, "x.db"));
  const environment = { home, variables: {}, platform: "linux" } as const;
  await ingest(engine, { environment });
  await ingest(engine, { environment, paths: [repository, elsewhere] });
  const { sessions } = await engine.listSessions({});
  const found = sessions
    .map((each) => [each.origin.file?.slice(-7, -6), provenanceOf(each)])
    .sort();
  expect(found).toEqual([
    ["a", "own"],
    ["b", "own"],
    ["c", "foreign"],
  ]);
  const foreign = sessions.find((each) => provenanceOf(each) === "foreign");
  const copy = await engine.session(foreign?.id ?? "").fork({ createdBy: "me" });
  expect(provenanceOf(await copy.meta())).toBe("foreign");
  await engine.close();
});

test("a caller with a token cannot say that its sessions are the person's own", async () => {
  const engine = await open(":memory:");
  const token = await engine.createToken({ scope: "write", actor: "b" });
  const server = await openServer(engine, { port: 0, requireToken: true, version: "0.0.0" });
  const headers = { authorization: `Bearer ${token.token}`, "content-type": "application/json" };
  const create = async (body: object) => {
    const response = await fetch(`${server.url}/v1/sessions`, {
      method: "POST",
      headers,
      body: JSON.stringify({ agent: "a", created_by: "b", ...body }),
    });
    expect(response.status, await response.clone().text()).toBe(201);
    const { origin } = (await response.json()) as { origin: { provenance: string | null } };
    return origin.provenance;
  };
  expect(await create({})).toBe("team");
  expect(await create({ origin: { provenance: "own" } })).toBe("team");
  expect(await create({ origin: { provenance: "foreign" } })).toBe("foreign");
  await server.stop();
  await engine.close();
});

test("a store of 0.1.0 is migrated by a command that only reads, and keeps its sessions", async () => {
  const folder = createFolder();
  const db = join(folder, "store.db");
  const from = join(import.meta.dirname, "fixtures/release-0.1.0/store.db.gz");
  writeFileSync(db, gunzipSync(readFileSync(from)));
  const { stdout, code } = await callCli(["list", "--db", db, "--json"]);
  expect(code).toBe(0);
  const { sessions } = JSON.parse(stdout) as { sessions: { origin: { provenance: unknown } }[] };
  expect(sessions.length).toBeGreaterThan(0);
  expect(sessions.every(({ origin }) => origin.provenance === null)).toBe(true);
});
