import { expect, test } from "vitest";
import { continuationMessage } from "../render.ts";

const PREAMBLE =
  "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.\n\n";
const RESUME =
  "\nContinue the conversation from where it left off without asking the user any further questions. Resume directly — do not acknowledge the summary, do not recap what was happening, and do not preface with continuation text.";

function check(summary: string, expected: string): void {
  const options = { tailKept: false, suppressQuestions: false };
  expect(continuationMessage(summary, options)).toBe(PREAMBLE + expected);
}

test("tags become a heading", () => {
  check("<summary>\nKeep it.\n</summary>", "Summary:\nKeep it.");
  check("before <summary>x</summary> after", "before Summary:\nx after");
  check("no tags", "no tags");
  check("<summary>never closed", "<summary>never closed");
});

test("the analysis is left out", () => {
  check("<analysis>a\n\nb</analysis>\n<summary>x</summary>", "Summary:\nx");
  check("<analysis>a</analysis>x<analysis>b</analysis>y", "xy");
});

test("runs of blank lines become one", () => {
  check("<summary>a\n\n\n \n\nb\n\nc\nd</summary>", "Summary:\na\n\nb\n\nc\nd");
});

test("the kept tail and the instruction to continue have their sentences", () => {
  const tail = "\n\nRecent messages are preserved verbatim.";
  expect(continuationMessage("x", { tailKept: true })).toBe(`${PREAMBLE}x${tail}${RESUME}`);
  expect(continuationMessage("x", { tailKept: false })).toBe(`${PREAMBLE}x${RESUME}`);
  expect(continuationMessage("x", { tailKept: true, suppressQuestions: false })).toBe(
    `${PREAMBLE}x${tail}`,
  );
});
