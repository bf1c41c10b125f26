import { diffLines } from "diff";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cpuMs } from "../../test/support/cpu-time.ts";
import { open } from "../index.ts";
import { countChanges } from "./count-changes.ts";
import { outlineSession } from "./outline.ts";

describe("an outline", () => {
  test("has the prompts, the calls with what they changed, the commits and the matches", async () => {
    await using engine = await open(":memory:");
    const session = await engine.createSession({ agent: "coder", createdBy: "ana" });
    const call = (id: string, name: string, input: Record<string, string>) =>
      ({ type: "tool_use", id, name, input }) as const;
    const result = (id: string, output: string, isError = false) => ({
      role: "tool" as const,
      content: [{ type: "tool_result" as const, toolUseId: id, output, isError }],
    });
    const says = (content: string, metadata = {}) =>
      ({ role: "user", actor: "ana", content, metadata }) as const;
    const does = (...content: ReturnType<typeof call>[]) =>
      ({ role: "assistant", actor: "coder", content }) as const;
    await session.append([
      says("# AGENTS.md instructions for /src"),
      says("<system-reminder>Be short.</system-reminder>\nFix\n the tax"),
      says("A machine's record", { injected: true }),
      does(
        call("1", "Read", { file_path: "/src/tax.ts" }),
        call("2", "Edit", {
          file_path: "/src/tax.ts",
          old_string: "a\nb\nc\n",
          new_string: "a\nB\nc\nd\n",
        }),
      ),
      result("1", "a\nb\nc"),
      result("2", "done"),
      does(call("3", "Write", { file_path: "/etc/tax", content: "x" })),
      result("3", "Permission\n  denied", true),
      does(call("4", "Bash", { command: 'git commit -m "Round once"' })),
      result("4", "[main 4be1c20] Round once\n 1 file changed"),
      { role: "assistant", actor: "coder", content: "Rounded ONCE." },
    ]);

    expect(await outlineSession(engine, session.id, { find: "round once" })).toMatchObject({
      offset: 0,
      end: 11,
      total: 11,
      turns: [{ index: 1, text: "Fix the tax" }],
      calls: [
        { index: 3, kind: "read", failed: false },
        { index: 3, kind: "edit", failed: false, path: "/src/tax.ts", added: 2, removed: 1 },
        { index: 6, kind: "edit", failed: true, path: null, added: 0 },
        { index: 8, kind: "run", failed: false },
      ],
      commits: [{ index: 8, hash: "4be1c20", subject: "Round once" }],
      matches: [8, 9],
    });
    const found = await outlineSession(engine, session.id, {
      find: "permission denied",
      offset: 4,
    });
    expect(found).toMatchObject({ offset: 4, matches: [7] });
  });

  test("counts the lines of the shortest diff", () => {
    const line = fc.constantFrom("a", "b", "c", "");
    const text = fc
      .array(line, { maxLength: 8 })
      .map((lines) => lines.map((one) => `${one}\n`).join(""));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const parts = diffLines(before, after);
        const count = (kind: "added" | "removed") =>
          parts.reduce((sum, part) => sum + (part[kind] ? part.count : 0), 0);
        expect(countChanges(JSON.stringify({ old_string: before, new_string: after }))).toEqual({
          added: count("added"),
          removed: count("removed"),
        });
      }),
    );
  });

  test.each([
    [
      {
        edits: [
          { oldString: "a", newString: "b" },
          { old_str: "", new_str: "c\nd" },
        ],
      },
      3,
      1,
    ],
    [{ file_path: "x", content: "a\nb\n" }, 2, 0],
    [{ patch: "*** Begin Patch\n*** Update File: x\n@@\n-a\n+b\n+c\n*** End Patch" }, 2, 1],
    [{ patch: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b" }, 1, 1],
  ])("counts the lines of %j", (input, added, removed) => {
    expect(countChanges(JSON.stringify(input))).toEqual({ added, removed });
  });

  test("compares the lines of many large edits only so long as it takes no time", () => {
    const lines = (name: string) => Array.from({ length: 899 }, (_, i) => `${name}${i}`).join("\n");
    const edit = { old_string: `a\n${lines("b")}`, new_string: `c\n${lines("d")}\na` };
    const input = JSON.stringify({ edits: Array(300).fill(edit) });
    let counted = { added: 0, removed: 0 };
    expect(cpuMs(() => (counted = countChanges(input)))).toBeLessThan(1_500);
    expect(counted).toEqual({ added: 270_299, removed: 269_999 });
  });
});
