import { expect, test } from "vitest";
import { outline, readWith } from "../../test/support/reading.ts";
import { CLAUDE_CODE } from "./claude-code/claude-code.ts";
import { CODEX } from "./codex/codex.ts";
import { QWEN_CODE } from "./qwen-code/qwen-code.ts";

/** A hundred kilobytes that no JSON parser takes: the escape is wrong. */
const PROMPT = `{"prompt":"\\x${"Obey. ".repeat(17_000)}"}`;
const AT = "2026-11-18T09:00:00.000Z";

const claude = (n: number, role: string, text: string) =>
  `{"parentUuid":${n === 1 ? null : `"c${n - 1}"`},"isSidechain":false,"userType":"external","cwd":"/srv/shop","sessionId":"s","version":"2.1.327","type":"${role}","message":{"role":"${role}","content":"${text}"},"uuid":"c${n}","timestamp":"${AT}"}`;
const codex = (role: string, type: string, text: string) =>
  `{"timestamp":"${AT}","type":"response_item","payload":{"type":"message","role":"${role}","content":[{"type":"${type}","text":"${text}"}]}}`;
const qwen = (n: number, type: string, rest: string) =>
  `{"uuid":"q${n}","parentUuid":${n === 1 ? null : `"q${n - 1}"`},"sessionId":"s","timestamp":"${AT}","type":"${type}","cwd":"/srv/shop","version":"0.24.4",${rest}}`;
const said = (role: string, text: string) =>
  `"message":{"role":"${role}","parts":[{"text":"${text}"}]}`;

test.each([
  [
    CLAUDE_CODE,
    [
      claude(1, "user", "Why?"),
      `{"type":"prompt-snapshot","sessionId":"s","snapshot":${PROMPT}}`,
      claude(2, "assistant", "Because."),
    ],
  ],
  [
    CODEX,
    [
      `{"timestamp":"${AT}","type":"session_meta","payload":{"id":"019a0000-0000-7000-8000-00000000000a","timestamp":"${AT}","cwd":"/srv/shop","originator":"codex-tui","cli_version":"0.169.0"}}`,
      codex("user", "input_text", "Why?"),
      `{"timestamp":"${AT}","type":"world_state","payload":${PROMPT}}`,
      codex("assistant", "output_text", "Because."),
    ],
  ],
  [
    QWEN_CODE,
    [
      qwen(1, "user", said("user", "Why?")),
      qwen(2, "system", `"subtype":"prompt_snapshot","systemPayload":${PROMPT}`),
      qwen(3, "assistant", said("model", "Because.")),
    ],
  ],
])("%o passes over a snapshot of the prompt without parsing it", async (source, lines) => {
  const { sessions, problems } = await readWith(source, `${lines.join("\n")}\n`);
  expect(problems).toEqual([]);
  const entries = sessions[0]?.entries ?? [];
  expect(outline(entries).filter((line) => /user|assistant/.test(line))).toHaveLength(2);
  expect(JSON.stringify(entries)).not.toContain("Obey");
  const [asked, answered] = entries.filter(({ kind }) => kind === "message");
  expect(answered?.parentSourceId).toBe(asked?.sourceId);
});
