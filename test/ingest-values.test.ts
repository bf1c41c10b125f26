import fc from "fast-check";
import { expect, test } from "vitest";
import { open } from "../src/open.ts";
import { repeats } from "./support/repeats.ts";
import { fixture, importText, readWhole } from "./support/transcripts.ts";

/** Files of valid JSON with an unexpected value somewhere. */

const FIXTURES = [
  "claude-code/version-1.jsonl",
  "claude-code/version-2.jsonl",
  "claude-code/resumed.jsonl",
  "claw-code/tools.json",
  "claw-code/compacted.jsonl",
  "codex/current.jsonl",
  "codex/flat.jsonl",
  "codex/sub-agent.jsonl",
  "pi/version-1.jsonl",
  "pi/version-3.jsonl",
  "copilot-cli/version-1.jsonl",
  "copilot-cli/early.jsonl",
  "gemini-cli/session.json",
  "gemini-cli/session.jsonl",
  "cursor/transcript.jsonl",
  "chatgpt/conversations.json",
  "cline/api_conversation_history.json",
  "claude-ai/conversations.json",
  "openclaw/a1-topic-7.jsonl",
  "crabtalk/session.jsonl",
  "qwen-code/chat.jsonl",
  "opencode-export/export.json",
  "kimi/context.jsonl",
  "kimi-code/wire.jsonl",
  "droid/session.jsonl",
  "continue/session.json",
  "openhands/events.jsonl",
  "openhands/legacy.jsonl",
  "copilot-chat/session.json",
  "copilot-chat/session.jsonl",
  "antigravity/transcript_full.jsonl",
  "amp/thread.json",
  "grok-build/updates.jsonl",
  "atif/trajectory.json",
];

/** Values that a JavaScript conversion rejects or misconverts. */
const ODD: readonly unknown[] = [
  { toString: 1 },
  { valueOf: 1, toString: null },
  { toJSON: 1 },
  { constructor: null },
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  -1e-320,
  2 ** 53,

  "",
  "__proto__",
  "toString",
  "\ud800",
  "\u0000",
  "2026-99-99T99:99:99Z",
  "NaN",
  "x".repeat(5000),
  [],
  {},
  [[]],
  [null],
  [{ toString: 1 }],
  { length: -1 },
  { length: 1e9 },
  { type: "text" },
  JSON.parse('{"__proto__":{"toString":1}}'),
];

const mutation = fc.record({
  record: fc.double({ min: 0, max: 1, noNaN: true }),
  place: fc.double({ min: 0, max: 1, noNaN: true }),
  value: fc.constantFrom(...ODD),
});
type Mutation = typeof mutation extends fc.Arbitrary<infer Value> ? Value : never;

type Holder = Record<string, unknown>;

/** Every position of a nested value. */
function places(value: unknown, found: [Holder, string][] = []): [Holder, string][] {
  if (typeof value !== "object" || value === null) return found;
  for (const name of Object.keys(value)) {
    found.push([value as Holder, name]);
    places((value as Holder)[name], found);
  }
  return found;
}

function mutate(records: readonly string[], { record, place, value }: Mutation): string[] {
  const at = Math.min(records.length - 1, Math.floor(record * records.length));
  let parsed: unknown;
  try {
    parsed = JSON.parse(records[at] ?? "");
  } catch {
    // An earlier replacement removed the object here.
    return [...records];
  }
  const all = places(parsed);
  const [holder, name] = all[Math.floor(place * all.length)] ?? [];
  if (holder === undefined || name === undefined) return [...records];
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true });
  return records.with(at, JSON.stringify(parsed));
}

function recordsOf(name: string): string[] {
  const text = fixture(name);
  return name.endsWith(".jsonl") ? text.trimEnd().split("\n") : [text];
}

test.each(FIXTURES)("no value in %s ends its reading", async (name) => {
  const whole = recordsOf(name);
  const source = name.split("/")[0] ?? "";
  await fc.assert(
    fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 3 }), async (mutations) => {
      const changed = mutations.reduce(mutate, whole).join("\n");
      const { sessions } = await readWhole(changed, { source, path: "/a", pieces: 65_536 });
      for (const { entries } of sessions) {
        // Two records may have one id: an import keeps both if their content differs.
        expect(entries.every(({ sourceId }) => typeof sourceId === "string")).toBe(true);
      }
    }),
    { numRuns: repeats(60, 10_000) },
  );
});

test("entries read from odd values can be stored", async () => {
  await using engine = await open(":memory:");
  let tenants = 0;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...FIXTURES), fc.array(mutation), async (name, mutations) => {
      const changed = mutations.reduce(mutate, recordsOf(name)).join("\n");
      const tenant = engine.forTenant(`t${++tenants}`);
      try {
        await importText(tenant, changed, { path: "/a" });
      } catch (error) {
        expect((error as Error).message).toMatch(/not a transcript of a known format|no session/);
      }
    }),
    { numRuns: repeats(80, 5_000) },
  );
});

test("a value with its own toString is kept under its type", async () => {
  const line = { type: { toString: 1 }, uuid: "u", parentUuid: null, sessionId: "s" };
  const said = {
    type: "user",
    uuid: "v",
    parentUuid: "u",
    message: { role: "user", content: "hi" },
  };
  const text = `${JSON.stringify(line)}\n${JSON.stringify({ ...said, sessionId: "s" })}\n`;
  const { sessions, problems } = await readWhole(text, { source: "claude-code", path: "/a" });
  expect(sessions[0]?.entries.map(({ kind }) => kind)).toEqual(["custom", "message"]);
  expect(problems).toMatchObject([{ line: 1, code: "unexpected" }]);
});
