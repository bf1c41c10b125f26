import { globSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readTranscript } from "../src/archive/index.ts";
import { JsonOutline } from "../src/ingest/json-outline.ts";
import { recogniseSource, SOURCES } from "../src/ingest/sources.ts";
import { ROOT } from "./support/cli.ts";
import { cpuMs } from "./support/cpu-time.ts";
import { fixture } from "./support/transcripts.ts";

/** A format is recognised however long its first record is, and wherever the telling fields are. */

const NAMES = SOURCES.map(({ name }) => name);
const PATHS: Readonly<Record<string, string>> = {
  "openclaw/a1-topic-7.jsonl": "/home/ana/.openclaw/agents/main/sessions/a1-topic-7.jsonl",
  "cline/roo.json": "/x/rooveterinaryinc.roo-cline/tasks/a1/api_conversation_history.json",
  "cline/kilo.json": "/x/kilocode.kilo-code/tasks/a1/api_conversation_history.json",
};
const FIXTURES = globSync("*/*.{json,jsonl}", { cwd: join(ROOT, "test/fixtures") })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => NAMES.includes(name.split("/")[0] ?? "") && name !== "opencode/tree.json")
  .sort();

/** Documents that their agents begin with one field, which tells them from other JSON. */
const BY_FIRST_FIELD: readonly string[] = ["codex/oldest.json", "opencode-export/export.json"];

type Fields = Record<string, unknown>;

/** The same fields in another order, with a long one at the start, in the middle or at the end. */
const ORDERS: Readonly<Record<string, (fields: Fields, long: unknown) => Fields>> = {
  "a long value first": (fields, long) => ({ zz_note: long, ...fields }),
  "a long value last": (fields, long) => ({ ...fields, zz_note: long }),
  "the fields reversed, a long value in the middle": (fields, long) => {
    const turned = Object.entries(fields).reverse();
    const middle = turned.length >> 1;
    return Object.fromEntries([...turned.slice(0, middle), ["zz", long], ...turned.slice(middle)]);
  },
};

const VALUES: Readonly<Record<string, (bytes: number) => unknown>> = {
  text: (bytes) => `say \\"hi\\"\n${"x".repeat(bytes)}`,
  list: (bytes) => Array.from({ length: bytes / 20 }, (_, i) => ({ type: "text", n: i })),
};

/** The file with a longer first record: its first line, or the document or its first element. */
function pad(text: string, change: (fields: Fields) => Fields): string {
  const end = text.trimStart().indexOf("\n");
  const [first, rest] = [text.trimStart().slice(0, end), text.trimStart().slice(end)];
  const parsed = tryJson(end < 0 ? text : first);
  if (parsed !== undefined && !Array.isArray(parsed) && end >= 0) {
    return `${JSON.stringify(change(parsed as Fields))}${rest}`;
  }
  const whole = JSON.parse(text) as Fields | Fields[];
  const padded = Array.isArray(whole)
    ? whole.map((each, i) => (i === 0 ? change(each) : each))
    : change(whole);
  return JSON.stringify(padded);
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function formatOf(text: string, path: string): Promise<string> {
  const bytes = Buffer.from(text);
  const chunks = Array.from({ length: Math.ceil(bytes.length / 65_521) }, (_, i) =>
    bytes.subarray(i * 65_521, (i + 1) * 65_521),
  );
  const { source } = await readTranscript({ bytes: chunks, path }).catch((error: Error) => ({
    source: error.message,
  }));
  return source;
}

describe.each(FIXTURES)("%s is recognised", (name) => {
  const path = PATHS[name] ?? `/somewhere/${name}`;

  const isByFirst = BY_FIRST_FIELD.includes(name);
  test.each(isByFirst ? ["a long value last"] : Object.keys(ORDERS))("with %s", async (order) => {
    const text = fixture(name);
    const expected = await formatOf(text, path);
    for (const [kind, make] of Object.entries(VALUES)) {
      const long = make(300_000);
      const padded = pad(text, (fields) =>
        (ORDERS[order] as (typeof ORDERS)[string])(fields, long),
      );
      expect([kind, await formatOf(padded, path)]).toEqual([kind, expected]);
    }
  });
});

test("a first value of 5 MB does not hide Claude Code's fields", async () => {
  const said = { type: "user", message: { content: [{ type: "text", text: "x".repeat(5e6) }] } };
  const rest = {
    timestamp: "2026-01-02T03:04:05Z",
    sessionId: "s-1",
    cwd: "/w",
    gitBranch: "main",
  };
  const line = `${JSON.stringify({ ...said, ...rest })}\n`;
  expect(await formatOf(line, "/x/s-1.jsonl")).toBe("claude-code");
});

test("an outline keeps all names of a record, and is linear in hostile bytes", () => {
  const outlineOf = (bytes: Buffer) => {
    const outline = new JsonOutline(1);
    for (let i = 0; i < bytes.length && outline.push(bytes.subarray(i, i + 4_099)); i += 4_099);
    return outline.head;
  };
  const parts = ['\\"', "\\\\", "\\u00e9", "é", "a", '","', "[", "]", "{", "}", ",", "\n", " "];
  for (const part of parts) {
    const record = { a: part.repeat(3_000), b: [part, [part.repeat(999)]], c: { d: part }, e: 1 };
    const kept = outlineOf(Buffer.from(`${JSON.stringify(record)}\n`));
    expect(Object.keys(JSON.parse(Buffer.from(kept).toString()) as Fields)).toEqual([
      ...Object.keys(record),
    ]);
    const timeOf = (size: number) =>
      cpuMs(() => void outlineOf(Buffer.from(`{"a":"${part.repeat(size)}`)));
    timeOf(100_000);
    expect(timeOf(1_600_000)).toBeLessThan(16 * 20 * Math.max(1, timeOf(100_000)));
  }
});

/** Bytes that cost the most for their number: outside of strings, in small values, in escapes. */
const DENSE: readonly string[] = [
  "[",
  '{"a":',
  '"",',
  '[""],',
  "1,",
  '{"a":{"b":[1,{"c":"d"}]},',
  '\\"',
  " ",
  "\n",
];

test("an outline gives up on megabytes of dense bytes, and reads megabytes of ordinary text", () => {
  const takenOf = (start: string, unit: string) => {
    const outline = new JsonOutline(1);
    const chunk = Buffer.from(unit.repeat(65_536 / unit.length));
    outline.push(Buffer.from(start));
    let taken = 0;
    while (taken < 5_000_000 && outline.push(chunk)) taken += chunk.length;
    return taken;
  };
  expect(takenOf('{"a":"', '\\"')).toBeLessThan(1_500_000);
  for (const unit of DENSE) {
    for (const start of ['{"a":[', "[", "{"]) {
      expect([start, unit, takenOf(start, unit) < 1_500_000]).toEqual([start, unit, true]);
    }
  }
  const sentence =
    'She said \\"no\\", and told at some length how the second deployment had failed.\\n';
  expect(takenOf('{"a":"', "word ")).toBeGreaterThan(5_000_000 - 65_536);
  expect(takenOf('{"a":"', sentence)).toBeGreaterThan(3_000_000);
});

test("formats look at one head together: dense bytes cost milliseconds, whatever they are", () => {
  for (const unit of [...DENSE, "é", "\0", "{}\n"]) {
    for (const start of ['{"a":"', '{"a":[', "[", "{", ""]) {
      const head = Buffer.from(start + unit.repeat(65_536)).subarray(0, 65_536);
      const times = [1, 2, 3, 4].map(() => cpuMs(() => void recogniseSource(head, "/x/y.jsonl")));
      // 5 ms, and twice as much for a slow machine; decoded and parsed for each format: 20 to 60.
      expect([start, unit, Math.min(...times) < 10]).toEqual([start, unit, true]);
    }
  }
});
