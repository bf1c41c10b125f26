/** A variable of the environment with nonsense in it is one error that names the variable. */

import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readVariable, VARIABLES, type VariableName } from "../src/model/variables.ts";
import { callCli, ROOT } from "./support/cli.ts";
import { removeFolder } from "./support/folder.ts";

/** Names in the sources that are no variables of users: codes of warnings, and our own tests'. */
const OTHERS = [
  "BACKSCROLL_BUILT",
  "BACKSCROLL_INDEXING",
  "BACKSCROLL_LEASE_OWNER",
  "BACKSCROLL_LOSS",
  "BACKSCROLL_PIPE",
  "BACKSCROLL_STRESS",
];

const CODES_OF_WARNINGS = ["BACKSCROLL_EMBED", "BACKSCROLL_LOG", "BACKSCROLL_THREADS"];

test("every variable that the sources read has a rule", () => {
  const files = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" });
  const named = files
    .filter((file) => /(?<!\.test)\.tsx?$/.test(file))
    .flatMap((file) =>
      readFileSync(join(ROOT, "src", file), "utf8").match(/BACKSCROLL_[A-Z_]*[A-Z]/g),
    )
    .filter((name) => name !== null && !CODES_OF_WARNINGS.includes(name));
  const known = [...Object.keys(VARIABLES), ...OTHERS];
  expect([...new Set(named)].filter((name) => !known.includes(String(name)))).toEqual([]);
});

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "backscroll-variables-"));
});
afterAll(() => removeFolder(home));

const LIST = ["list"];
const SEARCH = ["search", "cron"];
const SERVE = ["serve", "--port", "0"];
const EMBED = { BACKSCROLL_EMBED_MODEL: "m", BACKSCROLL_EMBED_URL: "http://127.0.0.1:1/v1" };

/** A command that reads the variable, nonsense for it, and the variables that it needs beside. */
const NONSENSE: Readonly<
  Record<VariableName, readonly [readonly string[], string, Record<string, string>?]>
> = {
  BACKSCROLL: [["ingest"], "nope"],
  BACKSCROLL_HUB: [["mcp"], "nope"],
  BACKSCROLL_UNATTENDED: [["mcp"], "nope"],
  BACKSCROLL_DB: [LIST, "mysql://secret@host/db"],
  BACKSCROLL_TENANT: [LIST, "a b"],
  BACKSCROLL_TOKEN: [LIST, "bsk_\nsecret"],
  BACKSCROLL_CONFIG: [["config"], " "],
  BACKSCROLL_PRICES: [["stats"], " "],
  BACKSCROLL_ORIGINALS: [["ingest"], "nope"],
  BACKSCROLL_SECRETS: [LIST, "acme_,(a+)+"],
  BACKSCROLL_TELEMETRY: [LIST, "on"],
  BACKSCROLL_INDEX_LANGUAGE: [LIST, "french"],
  BACKSCROLL_INDEX_TOOLS: [LIST, "some"],
  BACKSCROLL_INDEX_CACHE_MB: [LIST, "64MB"],
  BACKSCROLL_SEARCH_DEADLINE_MS: [SEARCH, "5s"],
  BACKSCROLL_EMBED_DEADLINE_MS: [SEARCH, "-1"],
  BACKSCROLL_HOOK_DEADLINE_MS: [["hook", "claude-code"], "1e3"],
  BACKSCROLL_MODEL: [LIST, " "],
  BACKSCROLL_MODEL_URL: [["facts", "extract", "s"], "http://"],
  BACKSCROLL_MODEL_KEY: [LIST, "secret key"],
  BACKSCROLL_EMBED_MODEL: [SEARCH, " "],
  BACKSCROLL_EMBED_URL: [SEARCH, "ftp://secret@host", EMBED],
  BACKSCROLL_EMBED_KEY: [SEARCH, "secret key", EMBED],
  BACKSCROLL_EMBED_DIMENSIONS: [SEARCH, "many", EMBED],
  BACKSCROLL_NOTIFY: [SERVE, "sometimes"],
  BACKSCROLL_REPLICAS: [SERVE, "mysql://secret@host"],
};

test.each(Object.keys(VARIABLES) as VariableName[])("%s", async (name) => {
  const [args, value, more = {}] = NONSENSE[name];
  expect(() => readVariable(name, { [name]: value })).toThrow(`${name} must be `);
  expect(readVariable(name, { [name]: "" })).toBeUndefined();
  // Only a call of the model reads its address.
  if (name === "BACKSCROLL_MODEL_URL") return;
  const env = { HOME: home, BACKSCROLL_DB: join(home, "x.db"), ...more, [name]: value };
  await callCli(["new", "--agent", "a", "--by", "b"], {
    env: { HOME: home, BACKSCROLL_DB: join(home, "x.db") },
  });
  const input = JSON.stringify({ hook_event_name: "PreCompact", session_id: "s" });
  const ran = await callCli(args, { env, input });
  expect(ran.stderr).toContain(`backscroll: ${name} must be `);
  expect(ran.stderr).not.toContain("secret");
  expect(ran.stderr.trim().split("\n")).toHaveLength(1);
  expect(ran.code).toBe(args[0] === "hook" ? 0 : 2);
});
