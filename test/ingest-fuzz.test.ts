import fc from "fast-check";
import { expect, test } from "vitest";
import { splitLines } from "../src/ingest/lines.ts";
import type { TranscriptSource } from "../src/ingest/source.ts";
import { SOURCES } from "../src/ingest/sources.ts";
import { BackscrollError } from "../src/model/errors.ts";
import type { JsonObject } from "../src/model/json.ts";
import { open } from "../src/open.ts";
import { readWith } from "./support/reading.ts";
import { repeats } from "./support/repeats.ts";
import { fixture, importText, readWhole } from "./support/transcripts.ts";

/** Damaged files: no reader throws, and intact lines survive damaged ones. */

const FIXTURES = [
  "claude-code/version-1.jsonl",
  "claude-code/version-2.jsonl",
  "claude-code/agent-a1b2c3d.jsonl",
  "claude-code/resumed.jsonl",
  "claw-code/version-1.json",
  "claw-code/tools.json",
  "claw-code/compacted.jsonl",
  "codex/current.jsonl",
  "codex/flat.jsonl",
  "codex/sub-agent.jsonl",
  "pi/version-1.jsonl",
  "pi/version-2.jsonl",
  "pi/version-3.jsonl",
  "copilot-cli/version-1.jsonl",
  "copilot-cli/early.jsonl",
  "gemini-cli/session.json",
  "gemini-cli/session.jsonl",
  "cursor/transcript.jsonl",
  "cline/api_conversation_history.json",
  "aider/history.txt",
  "chatgpt/conversations.json",
  "claude-ai/conversations.json",
  "openclaw/a1-topic-7.jsonl",
  "crabtalk/session.jsonl",
  "qwen-code/chat.jsonl",
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
  "specstory/history.md",
  "kiro/0b7d9c1e-aaaa-4bbb-8ccc-123456789abc.jsonl",
  "vibe/messages.jsonl",
  "windsurf/traj-1.jsonl",
];

/** Damaged files of each format. */
const RUNS = repeats(12, 500);

/** Damaged files that are read in chunks: each is a megabyte. */
const LONG_RUNS = repeats(5, 500);

/** Storing takes longer than reading. */
const STORED_RUNS = repeats(24, 1_000);

const mutation = fc.record({
  how: fc.constantFrom("cut", "flip", "double", "swap", "splice", "drop"),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  to: fc.double({ min: 0, max: 1, noNaN: true }),
  byte: fc.integer({ min: 0, max: 255 }),
});

type Mutation = typeof mutation extends fc.Arbitrary<infer Value> ? Value : never;

function mutate(bytes: Buffer, { how, at, to, byte }: Mutation): Buffer {
  const lines = bytes.toString("latin1").split("\n");
  const line = Math.floor(at * (lines.length - 1));
  const other = Math.floor(to * (lines.length - 1));
  const place = Math.floor(at * bytes.length);
  switch (how) {
    case "cut":
      return bytes.subarray(0, place);
    case "flip":
      return Buffer.concat([bytes.subarray(0, place), Buffer.of(byte), bytes.subarray(place + 1)]);
    case "double":
      return Buffer.from(lines.toSpliced(line, 0, lines[line] ?? "").join("\n"), "latin1");
    case "swap":
      return Buffer.from(
        lines
          .with(line, lines[other] ?? "")
          .with(other, lines[line] ?? "")
          .join("\n"),
        "latin1",
      );
    case "splice":
      return Buffer.concat([
        bytes.subarray(0, place),
        bytes.subarray(Math.floor(to * bytes.length)),
      ]);
    case "drop":
      return Buffer.from(lines.toSpliced(line, 1).join("\n"), "latin1");
  }
}

test.each(FIXTURES)("no damage to %s makes a reader throw", async (name) => {
  const whole = Buffer.from(fixture(name));
  const source = name.split("/")[0] ?? "";
  await fc.assert(
    fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 3 }), async (mutations) => {
      const damaged = mutations.reduce(mutate, whole);
      const { sessions } = await readWhole(damaged, { source, path: "/a", pieces: 1000 });
      for (const { entries } of sessions) {
        // A repeated id stands for other content: the import gives it an id of its own.
        const distinct = entries.map((entry) => JSON.stringify(entry));
        expect(new Set(distinct).size).toBe(entries.length);
      }
    }),
    { numRuns: RUNS },
  );
});

/** Padding that makes a document too long to be parsed whole. */
const PADDING = Buffer.alloc(1024 * 1024, " ");

test.each(FIXTURES.filter((name) => /^(claw-code|cline|gemini-cli)\/.*\.json$/.test(name)))(
  "no damage to %s makes a chunked reader throw",
  async (name) => {
    const whole = Buffer.from(fixture(name));
    const source = SOURCES.find((each) => each.name === name.split("/")[0]) as TranscriptSource;
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 3 }), async (mutations) => {
        const damaged = Buffer.concat([mutations.reduce(mutate, whole), PADDING]);
        const { sessions } = await readWith(source, damaged, { path: "/a", isRepeatable: true });
        for (const { entries } of sessions) {
          const ids = entries.map(({ sourceId }) => sourceId);
          expect(new Set(ids).size).toBe(ids.length);
        }
      }),
      { numRuns: LONG_RUNS },
    );
  },
);

test("entries from damaged files can be stored, and importing is idempotent", async () => {
  await using engine = await open(":memory:");
  let tenants = 0;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...FIXTURES), fc.array(mutation), async (name, mutations) => {
      const damaged = mutations.reduce(mutate, Buffer.from(fixture(name))).toString();
      const tenant = engine.forTenant(`t${++tenants}`);
      try {
        const first = await importText(tenant, damaged, { path: "/a" });
        const again = await importText(tenant, damaged, { path: "/a" });
        expect(again.result).toMatchObject({ entries: 0, skipped: first.result.entries });
      } catch (error) {
        // Damaged beyond recognition, or without a session.
        const known = BackscrollError.is(error, "unknown_format");
        if (!known && !(error as Error).message.includes("no session")) throw error;
      }
    }),
    { numRuns: STORED_RUNS },
  );
});

test("a damaged file that is read in two parts can be stored, too", async () => {
  await using engine = await open(":memory:");
  let tenants = 0;
  const resumable = FIXTURES.filter((name) => /^(claude-code|codex)\//.test(name));
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...resumable),
      fc.array(mutation),
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (name, mutations, where) => {
        const damaged = mutations.reduce(mutate, Buffer.from(fixture(name)));
        const at = damaged.indexOf(10, Math.floor(where * damaged.length)) + 1;
        const source = SOURCES.find((each) => each.name === name.split("/")[0]);
        const tenant = engine.forTenant(`r${++tenants}`);
        let resume: JsonObject | undefined;
        let before = 0;
        for (const part of [damaged.subarray(0, at), damaged.subarray(at)]) {
          const lines = splitLines([part], { start: { lines: before, offset: 0 } });
          before = part.toString("latin1").split("\n").length - 1;
          const given = resume === undefined ? {} : { resume };
          const transcript = source?.read({ path: "/a", lines, ...given });
          let sessions = 0;
          for await (const session of transcript?.sessions ?? []) {
            await tenant.importSession(session, { file: "/a" });
            sessions++;
          }
          expect(sessions).toBe(1);
          const state = transcript?.state?.();
          // Without a resume state the whole file is read again.
          if (state === undefined) break;
          resume = JSON.parse(JSON.stringify(state)) as JsonObject;
        }
      },
    ),
    { numRuns: STORED_RUNS },
  );
});

test.each(["claude-code/version-1.jsonl", "claude-code/version-2.jsonl", "codex/current.jsonl"])(
  "a broken line of %s affects no other line",
  async (name) => {
    const lines = fixture(name).trimEnd().split("\n");
    const source = name.split("/")[0] ?? "";
    const read = async (content: readonly string[]) => {
      const { sessions, problems } = await readWhole(content.join("\n"), { source, path: "/a" });
      const ids = sessions.flatMap(({ entries }) => entries.map(({ sourceId }) => sourceId));
      return { ids, problems };
    };
    // Content-based ids and titles depend on more than one line.
    const isOwn = (id: string) => !/^(note|title)-/.test(id);
    const whole = await read(lines);
    for (let i = 1; i < lines.length; i++) {
      const broken = await read(lines.with(i, (lines[i] ?? "").slice(0, -5)));
      const lost = whole.ids.filter((id) => isOwn(id) && !broken.ids.includes(id));
      expect(lost.length, `line ${i + 1}`).toBeLessThanOrEqual(2);
      expect(broken.ids.filter((id) => isOwn(id) && !whole.ids.includes(id))).toEqual([]);
      expect(broken.problems[0]).toMatchObject({ line: i + 1 });
    }
  },
);

test("a broken line costs exactly one entry", async () => {
  const lines = fixture("pi/version-3.jsonl").trimEnd().split("\n");
  const whole = await readWhole(lines.join("\n"));
  for (let i = 1; i < lines.length; i++) {
    const broken = lines.with(i, (lines[i] ?? "").slice(0, -5)).join("\n");
    const { sessions, problems } = await readWhole(broken);
    expect(sessions[0]?.entries).toHaveLength((whole.sessions[0]?.entries.length ?? 0) - 1);
    const code = i === lines.length - 1 ? "torn_line" : "not_json";
    expect(problems).toContainEqual(expect.objectContaining({ line: i + 1, code }));
  }
});
