import { describe, expect, test } from "vitest";
import { exportText, fixture, importText } from "../../../test/support/transcripts.ts";
import { open } from "../../open.ts";

const HOSTILE = "</pre><script>alert('x')</script> & \"quotes\"";

describe("markdown", () => {
  test("shows authors, texts and times", async () => {
    await using engine = await open(":memory:");
    const { handle } = await importText(engine, fixture("pi/version-3.jsonl"));
    const { text, losses } = await exportText(handle, "markdown");
    expect(text).toMatch(/^# Cron runs twice\n\n- Session: /);
    expect(text).toContain(
      "## User\n\n*2025-12-03T14:00:01.000Z*\n\nWhy does the cron job run twice?",
    );
    expect(text).toContain("> A lock?");
    expect(text).toContain("**Calls bash**\n\n```\n");
    expect(text).toContain("## Summary of another branch");
    expect(losses).toEqual({ branches: 1, signatures: 1, "entries that are not shown": 2 });
  });

  test("fences code with more backticks than it holds", async () => {
    await using engine = await open(":memory:");
    const session = await engine.createSession({ agent: "a", createdBy: "ana" });
    await session.append({
      role: "user",
      toolResults: [{ id: "1", name: "cat", output: "````\ninner\n````" }],
    });
    const { text } = await exportText(session, "markdown");
    expect(text).toContain("`````\n````\ninner\n````\n`````");
  });
});

describe("html", () => {
  test("escapes everything, runs nothing and loads nothing", async () => {
    await using engine = await open(":memory:");
    const session = await engine.createSession({ agent: "a", createdBy: HOSTILE, title: HOSTILE });
    await session.append([
      { role: "user", actor: HOSTILE, content: HOSTILE },
      {
        role: "assistant",
        content: [
          { type: "thinking", text: HOSTILE },
          { type: "tool_use", id: "1", name: HOSTILE, input: { HOSTILE } },
          { type: "image", mediaType: "image/svg+xml", data: "PHN2Zz4=" },
          { type: "image", mediaType: 'image/png" onload="x', data: "aWNvbg==" },
          { type: "image", mediaType: "image/png", data: "aWNvbg==" },
          { type: "image", url: "https://example.org/spy.png" },
        ],
        toolResults: [{ id: "1", name: HOSTILE, output: HOSTILE, isError: true }],
      },
    ]);
    const { text, losses } = await exportText(session, "html");
    expect(text).not.toMatch(/<script|onload="|src="http|href=/i);
    expect(text.match(/&lt;script&gt;/g)?.length).toBeGreaterThanOrEqual(8);
    expect(text).toContain('<img alt="" src="data:image/png;base64,aWNvbg==">');
    expect(text).toContain("default-src 'none'");
    expect(text.match(/<\/?(article|details|pre|div|p|h1|h2)\b/g)?.length).toSatisfy(
      (count: number) => count % 2 === 0,
    );
    expect(losses).toEqual({ images: 3 });
  });
});
