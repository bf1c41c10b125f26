import { describe, expect, test } from "vitest";
import { exportText, fixture, importText } from "../../test/support/transcripts.ts";
import { open } from "../open.ts";

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

  test("shows control and bidirectional characters as such", async () => {
    await using engine = await open(":memory:");
    const hostile = "run \u202Eexe.txt\u001b[2J \u2066now\u2069";
    const session = await engine.createSession({ agent: "a", createdBy: "ana", title: hostile });
    await session.append([
      { role: "user", content: hostile },
      { role: "assistant", toolCalls: [{ id: "1", name: hostile, input: { hostile } }] },
    ]);
    const { text } = await exportText(session, "html");
    expect(text).not.toMatch(/[^\P{Cc}\n\t]|[\u202A-\u202E\u2066-\u2069]/u);
    expect(text).toContain("<p>run \\u202eexe.txt␛[2J \\u2066now\\u2069</p>");
  });

  test("shows Markdown of people and agents as such, and tool traffic and thinking as text", async () => {
    await using engine = await open(":memory:");
    const session = await engine.createSession({ agent: "a", createdBy: "ana" });
    await session.append([
      { role: "user", content: "# Ask\n\n- **one**" },
      {
        role: "assistant",
        content: [
          { type: "thinking", text: "**hm**" },
          { type: "text", text: "See `x` at https://e.org" },
          { type: "tool_use", id: "1", name: "bash", input: { command: "echo '**in**'" } },
        ],
        toolResults: [{ id: "1", name: "bash", output: "**out**" }],
      },
      { role: "tool", content: "**told**" },
      { role: "user", content: "<bash-stdout>a  *b*\n# c</bash-stdout>" },
      { role: "user", content: `**long** ${"a".repeat(200_000)}` },
    ]);
    const { text } = await exportText(session, "html");
    expect(text).toContain(
      '<div class="markdown" dir="auto"><h3>Ask</h3>\n<ul><li><strong>one</strong></li></ul></div>',
    );
    expect(text).toContain(
      '<p>See <code>x</code> at <a href="https://e.org" rel="noreferrer noopener">https://e.org</a></p>',
    );
    expect(text).toContain('<div class="thinking">**hm**</div>');
    expect(text).toContain("echo &#39;**in**&#39;");
    expect(text).toContain("<pre>**out**</pre>");
    expect(text).toContain('<div class="text" dir="auto">**told**</div>');
    expect(text).toContain("&lt;bash-stdout&gt;a  *b*\n# c&lt;/bash-stdout&gt;");
    expect(text).toContain('<div class="text" dir="auto">**long** aaa');
  });

  test("masks secrets before it renders", async () => {
    await using engine = await open(":memory:");
    const session = await engine.createSession({ agent: "a", createdBy: "ana" });
    const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    await session.append({ role: "user", content: `**Key** \`${secret}\`, ${secret}` });
    const { text } = await exportText(session, "html", { raw: false });
    expect(text).toContain("<p><strong>Key</strong> <code>[redacted]</code>, [redacted]</p>");
    expect(text).not.toContain("sk-ant");
  });
});
