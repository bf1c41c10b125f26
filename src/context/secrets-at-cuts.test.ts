import { expect, test } from "vitest";
import { redact } from "../secrets/redact.ts";
import { shortenResult } from "./cut-results.ts";
import { cutMiddle, cutText } from "./cut-text.ts";
import { TOKEN_ESTIMATE } from "./tokens.ts";

const KEY = "ghp_aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6";
/** A key every 60 characters, so that most cuts hit one. */
const TEXT = Array.from({ length: 60 }, (_, i) => `line ${i} has ${KEY}`).join("\n");

/** Whether masking the cut text leaves no part of a key. */
function isMasked(text: string): boolean {
  return !/ghp_|aB3d|fG6\b|A0cD/.test(redact(text).text);
}

test("a cut to a budget splits no secret", () => {
  for (let keep = 20; keep < 400; keep += 7) {
    const count = (text: string) => Math.ceil(text.length / 4);
    const cut = cutText(TEXT, keep, count, (left, total) => `[${left} of ${total}]`);
    expect([keep, isMasked(cut)]).toEqual([keep, true]);
    expect(count(cut)).toBeLessThanOrEqual(keep);
  }
});

test("shortening and pruning split no secret", () => {
  const block = { type: "tool_result", toolUseId: "t", output: TEXT, isError: false } as const;
  for (let keep = 40; keep < 400; keep += 7) {
    const { output } = shortenResult(block, keep, TOKEN_ESTIMATE);
    expect([keep, isMasked(String(output))]).toEqual([keep, true]);
    expect([keep, isMasked(cutMiddle(TEXT, keep, keep + 13))]).toEqual([keep, true]);
  }
});
