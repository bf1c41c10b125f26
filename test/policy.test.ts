/** What a machine's administrator forbids is refused, whatever flags and variables say. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { open as openStore } from "../src/open.ts";
import { POLICY_FILES, POLICY_KEYS, readPolicy, requireAllowed } from "../src/policy.ts";
import { compatibleEmbedder } from "../src/providers/embedding/compatible-embedder.ts";
import { embeddingModel } from "../src/providers/embedding/to-embedder.ts";
import { openServer } from "../src/server/index.ts";
import { writeTurn } from "./support/claude-transcript.ts";
import { callCli, ROOT } from "./support/cli.ts";
import { createFolder } from "./support/folder.ts";

const usual = [...POLICY_FILES];
let home: string;
let file: string;
beforeEach(() => {
  home = createFolder();
  file = join(home, "policy.json");
  POLICY_FILES.splice(0, POLICY_FILES.length, file);
});
afterEach(() => {
  POLICY_FILES.splice(0, POLICY_FILES.length, ...usual);
});

const put = (text: string) => writeFileSync(file, text);

const env = () => ({ HOME: home, BACKSCROLL_DB: join(home, "x.db") });
const open = (...args: string[]) => callCli(args, { env: env(), cwd: home });

/** Commands under the policy, with `+` between them. */
const cli = (args: readonly string[], more: Record<string, string> = {}, input = "") =>
  callCli([file, ...args], {
    main: join(ROOT, "test/support/policy-cli.ts"),
    env: { ...env(), ...more },
    cwd: home,
    input,
  });

const refusal = (key: string) => `"${key}" is false in ${file}`;

test("without a file nothing is forbidden, with one what is false in it", () => {
  expect(readPolicy()).toEqual({ path: null, forbidden: [], problem: null });
  put('\uFEFF{ "hooks": true, "shares": false }');
  expect(readPolicy()).toEqual({ path: file, forbidden: ["shares"], problem: null });
  expect(() => requireAllowed("hooks")).not.toThrow();
  expect(() => requireAllowed("shares")).toThrow(
    expect.objectContaining({ code: "forbidden", details: { policy: file, key: "shares" } }),
  );
});

test.each([
  ["", "JSON"],
  ["[]", "it is not a JSON object"],
  ['{"hook": false}', "did you mean hooks?"],
  ['{"hooks": "no"}', "hooks must be true or false"],
  ['{"shares": false, "rawexports": false}', "did you mean rawExports?"],
])("the policy %j forbids everything, and says why", (text, why) => {
  put(text);
  expect(readPolicy().forbidden).toEqual(POLICY_KEYS);
  for (const key of POLICY_KEYS) {
    expect(() => requireAllowed(key)).toThrow(why);
    expect(() => requireAllowed(key)).toThrow(`${file} cannot be used`);
  }
});

test("a policy that is no file forbids everything", () => {
  mkdirSync(file);
  expect(readPolicy()).toMatchObject({
    forbidden: POLICY_KEYS,
    problem: expect.stringContaining("EISDIR"),
  });
});

test("embedders elsewhere are refused, those of this machine are not", async () => {
  put('{"remoteEmbedders": false}');
  const at = (baseUrl: string) => () => compatibleEmbedder({ baseUrl, model: "m" });
  for (const url of ["http://localhost:1/v1", "http://127.0.0.1:1/v1", "http://[::1]:1/v1"]) {
    expect(at(url)).not.toThrow();
  }
  for (const url of ["https://api.example/v1", "http://localhost.example/v1", "http://10.0.0.1"]) {
    expect(at(url)).toThrow(refusal("remoteEmbedders"));
  }
  const model = { specificationVersion: "v3", provider: "p", modelId: "m", doEmbed: () => null };
  expect(() => embeddingModel(model)).toThrow(refusal("remoteEmbedders"));
  const named = { BACKSCROLL_EMBED_URL: "https://api.example/v1", BACKSCROLL_EMBED_MODEL: "m" };
  const ran = await cli(["status", "--create"], named);
  expect(ran).toMatchObject({
    stdout: "exit 6\n",
    stderr: expect.stringContaining(refusal("remoteEmbedders")),
  });
});

test("a server makes no links, and hands out no raw text", async () => {
  put('{"shares": false, "rawExports": false}');
  await using store = await openStore(":memory:");
  const server = await openServer(store, { port: 0, version: "1", tenant: "default" });
  try {
    const call = (path: string, body: object) =>
      fetch(`${server.url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const made = (await (await call("/v1/sessions", { agent: "a", created_by: "b" })).json()) as {
      id: string;
    };
    const answer = await call(`/v1/sessions/${made.id}/shares`, {});
    expect([answer.status, await answer.text()]).toEqual([
      403,
      expect.stringContaining(JSON.stringify(refusal("shares")).slice(1, -1)),
    ]);
    const place = { workstation: "w", path: "/a", start: 0 };
    const { url } = server;
    for (const refused of [
      await call("/v1/ingest/originals/read", place),
      await fetch(`${url}/v1/sessions/${made.id}/export?format=markdown&raw=true`),
    ]) {
      const body = JSON.stringify(refusal("rawExports")).slice(1, -1);
      expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining(body)]);
    }
    put("{}");
    expect((await call(`/v1/sessions/${made.id}/shares`, {})).status).toBe(201);
  } finally {
    await server.stop();
  }
});

test("hooks are neither set up nor answered, and stay removable", async () => {
  const settings = join(home, ".claude/settings.json");
  const set = ["setup", "claude-code", "--yes", "--no-check"];
  await open(...set, "--hooks");
  const before = readFileSync(settings, "utf8");
  put('{"hooks": false}');
  const transcript = writeTurn(home, { id: "a", cwd: home, text: "hello" });
  const event = { hook_event_name: "SessionEnd", session_id: "a", cwd: home };
  const input = JSON.stringify({ ...event, transcript_path: transcript });
  const ran = await cli([...set, "--hooks", "+", "hook", "claude-code"], {}, input);
  expect(ran.stdout).toBe("exit 6\nexit 0\n");
  expect(ran.stderr.split(refusal("hooks"))).toHaveLength(3);
  expect(readFileSync(settings, "utf8")).toBe(before);
  expect(existsSync(join(home, "x.db"))).toBe(false);
  expect((await cli([...set, "--remove"])).stdout).toContain("exit 0");
  expect(existsSync(settings)).toBe(false);
});

test("raw exports are refused, masked ones are not, and doctor shows the policy", async () => {
  const id = "0a1b2c3d";
  writeTurn(home, { id: `${id}-0000-4000-8000-000000000001`, cwd: home, text: "hello" });
  await open("ingest");
  put('{"rawExports": false}');
  const one = ["export", id, "--format", "markdown"];
  const raw = [...one, "--raw", "+", "export", "--all", "--raw", "+", "export", id, "--original"];
  const ran = await cli([...raw, "+", ...one, "+", "doctor"]);
  expect(ran.stdout.split("exit 6\n").slice(0, 3)).toEqual(["", "", ""]);
  expect(ran.stdout).toContain("hello");
  expect(ran.stdout).toContain(`Policy    ${file} forbids rawExports`);
  expect(ran.stderr.split(refusal("rawExports"))).toHaveLength(4);
  put("{");
  expect((await cli(["doctor"])).stdout).toContain(`Policy    ${file} forbids all that it can`);
});
