import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Entry } from "../../model/entry.ts";
import { MAX_SUMMARY_BYTES } from "../../model/limits.ts";
import { renderSummary } from "../render.ts";
import type { SummaryStructure } from "../summary.ts";
import { call, digest, entry, ofKind, result } from "./digest.cases.ts";

const texts = (cited: readonly { readonly text: string }[]) => cited.map(({ text }) => text);

describe("the extracted structure", () => {
  test("has the number of messages by role", () => {
    const { scope } = digest([
      entry("1", "system", "rules"),
      entry("2", "user", "hi"),
      entry("3", "assistant", call("a", "Bash", {})),
      entry("4", "tool", result("a", "ok")),
      entry("5", "user", result("b", "of another")),
      ofKind("custom_message", entry("6", "user", "injected")),
      ofKind("label", entry("7", "user", "not in the context")),
    ]);
    expect(scope).toEqual({ messages: 6, user: 1, assistant: 1, tool: 2 });
  });

  test("has the tools of calls and results, sorted, each once", () => {
    const { tools } = digest([
      entry("1", "assistant", call("a", "grep", "{}"), call("b", "Bash", "{}")),
      entry("2", "tool", result("a", "", { name: "grep" }), result("z", "", { name: "fetch" })),
    ]);
    expect(tools).toEqual(["Bash", "fetch", "grep"]);
  });

  test("has the last three requests, in order, by their first non-blank text", () => {
    const { requests } = digest([
      entry("1", "user", "one"),
      entry("2", "user", " ", "two", "more"),
      entry("3", "assistant", "answer"),
      entry("4", "user", result("a", "no request")),
      entry("5", "user", "three\n\n  lines"),
      entry("6", "user", "x".repeat(161)),
      ofKind("custom_message", entry("7", "user", "injected")),
    ]);
    expect(requests).toEqual([
      { text: "two", entryId: "2" },
      { text: "three lines", entryId: "5" },
      { text: `${"x".repeat(160)}…`, entryId: "6" },
    ]);
  });

  test("is cut between code points", () => {
    const smile = "😀";
    expect(texts(digest([entry("1", "user", smile.repeat(160))]).requests)).toEqual([
      smile.repeat(160),
    ]);
    expect(texts(digest([entry("1", "user", smile.repeat(161))]).requests)).toEqual([
      `${smile.repeat(160)}…`,
    ]);
  });

  test("has pending work of any role, found by five words", () => {
    const { pending } = digest([
      entry("1", "user", "TODO: first"),
      entry("2", "assistant", "set up nextjs"),
      entry("3", "assistant", "done", "but the remaining part is in a second text"),
      entry("4", "tool", "Follow up with them"),
      entry("5", "system", "Pending review"),
    ]);
    expect(texts(pending)).toEqual(["set up nextjs", "Follow up with them", "Pending review"]);
  });

  test("has files with a slash and one of six extensions, from all but names", () => {
    const { keyFiles } = digest([
      entry("1", "user", "see (src/b.ts), `src/a.RS`. and b.ts or src/c.py and src/.md"),
      entry(
        "2",
        "assistant",
        { type: "thinking", text: "docs/x.md?" },
        call("a", "Read", '{"path":"src/json.ts"}'),
      ),
      entry("3", "assistant", call("b", "Grep", '{"in": "src/in.tsx" }')),
      entry("4", "tool", result("b", "out/put.json:")),
    ]);
    expect(keyFiles).toEqual(["out/put.json", "src/a.RS", "src/b.ts", "src/in.tsx"]);
  });

  test("has at most eight files, the first in sort order", () => {
    const files = Array.from({ length: 12 }, (_, i) => `d/${String.fromCharCode(108 - i)}.ts`);
    const { keyFiles } = digest([entry("1", "user", [...files, ...files].join(" "))]);
    expect(keyFiles).toEqual(files.toSorted().slice(0, 8));
  });

  test("has the newest text as current work", () => {
    const long = "y".repeat(201);
    const { currentWork } = digest([
      entry("1", "user", "old"),
      entry("2", "assistant", long),
      entry("3", "tool", result("a", "z")),
    ]);
    expect(currentWork).toEqual({ text: `${"y".repeat(200)}…`, entryId: "2" });
  });

  test("has a line per message, each block cut", () => {
    const { timeline } = digest([
      entry("1", "user", "do it", "now"),
      entry(
        "2",
        "assistant",
        { type: "thinking", text: "hm" },
        "",
        "yes",
        call("a", "Bash", { command: "ls" }),
      ),
      entry("3", "tool", result("a", "no such\nfile", { error: true })),
      entry("4", "tool", result("q", "x".repeat(500), { name: "cat" })),
      ofKind("branch_summary", entry("5", "user", "tried it")),
      entry("6", "user", { type: "image", data: "AAAA" }),
    ]);
    expect(timeline.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      "user: do it | now",
      'assistant: yes | tool_use Bash({"command":"ls"})',
      "tool: tool_result Bash: error no such file",
      `tool: tool_result cat: ${"x".repeat(143)}…`,
      "branch: tried it",
      "user: [image]",
    ]);
  });
});

describe("continuing from an earlier structure", () => {
  const text = fc.constantFrom(
    "todo: see src/a.ts",
    "next is src/b.md",
    "fine",
    "- a list\n- of two",
  );
  const message = fc.oneof(
    fc
      .tuple(fc.constantFrom("user" as const, "assistant" as const, "system" as const), text)
      .map(([role, said]) => [entry("", role, said)]),
    fc
      .tuple(fc.constantFrom("Bash", "Read", "Edit"), fc.nat(9), fc.boolean())
      .map(([name, n, error]) => [
        entry("", "assistant", call("t", name, { command: `run ${n}`, path: `src/${n}.ts` })),
        entry("", "tool", result("t", "out", { error })),
      ]),
  );
  const rounds = fc.array(fc.array(message, { maxLength: 40 }), { minLength: 1, maxLength: 12 });

  test("equals processing everything at once", () => {
    fc.assert(
      fc.property(rounds, (parts) => {
        let id = 0;
        const named = parts.map((round) =>
          round.flat().map((one): Entry => ({ ...one, id: `${id++}` })),
        );
        const stepwise = named.reduce<SummaryStructure | null>(
          (so, round) => digest(round, so),
          null,
        );
        expect(stepwise).toEqual(digest(named.flat()));
      }),
      { numRuns: 100 },
    );
  });
});

const LONG = "漢".repeat(400);

describe("over fifty rounds", () => {
  /** Many blocks, long lines, ever new tools, files and commands, in three-byte letters. */
  function round(n: number): Entry[] {
    return Array.from({ length: 60 }, (_, i) => {
      const key = `${n}.${i}`;
      if (i % 3 === 0) {
        return entry(key, "user", `- todo ${key}\n- - next ${LONG}/${n}/${i}.ts ${LONG.repeat(4)}`);
      }
      if (i % 3 === 2) return entry(key, "tool", result(`${n}.${i - 1}`, LONG.repeat(25)));
      const calls = Array.from({ length: 30 }, (_, j) =>
        call(`${key}.${j}`, `${LONG}${key}`, { x: LONG }),
      );
      const shell = call(key, "Bash", { command: `echo ${key} ${LONG.repeat(3)}` });
      const edit = call(`${key}e`, "Edit", { path: `${key}/${LONG}` });
      const read = call(`${key}r`, "Read", { path: `${key}/${LONG}` });
      return entry(key, "assistant", shell, ...calls, edit, read);
    });
  }
  const structures: SummaryStructure[] = [];
  for (let n = 0; n < 50; n++) structures.push(digest(round(n), structures.at(-1) ?? null));
  const last = structures.at(-1) as SummaryStructure;

  test("structure and text stay bounded", () => {
    expect(last.scope.messages).toBe(3_000);
    for (const structure of structures) {
      expect(JSON.stringify(structure).length).toBeLessThan(500_000);
      for (const profile of ["claw", "rich"] as const) {
        const text = renderSummary(structure, profile);
        expect(Buffer.byteLength(text)).toBeLessThan(MAX_SUMMARY_BYTES);
      }
    }
  });

  test("every message has a line or is counted, and the folded ranges are contiguous", () => {
    expect(last.folded.length).toBeLessThanOrEqual(20);
    const counted = last.folded.reduce((sum, { messages }) => sum + messages, 0);
    expect(counted + last.timeline.length).toBe(3_000);
    expect(last.folded[0]?.from).toBe("0.0");
    expect(last.timeline.at(-1)?.entryId).toBe("49.59");
    const order = (id: string) => Number(id.split(".")[0]) * 60 + Number(id.split(".")[1]);
    last.folded.forEach(({ through }, i) => {
      const next = last.folded[i + 1]?.from ?? last.timeline[0]?.entryId ?? "";
      expect(order(next)).toBe(order(through) + 1);
    });
  });

  test("no line holds a bullet inside a bullet", () => {
    for (const profile of ["claw", "rich"] as const) {
      const lines = renderSummary(last, profile).split("\n");
      expect(lines.filter((line) => /^\s*-\s+-/.test(line))).toEqual([]);
      expect(lines.filter((line) => line.startsWith("- Scope")).length).toBe(
        profile === "claw" ? 1 : 0,
      );
    }
  });

  test("a timeline of short lines is folded from the 201st on", () => {
    const short = (count: number) =>
      digest(
        Array.from({ length: count }, (_, i) =>
          entry(`${i}`, i % 2 === 0 ? "user" : "assistant", "hi"),
        ),
      );
    expect(short(200).folded).toEqual([]);
    expect(short(203).folded).toEqual([
      { from: "0", through: "2", messages: 3, user: 2, assistant: 1, tool: 0 },
    ]);
    expect(short(203).timeline.length).toBe(200);
  });
});
