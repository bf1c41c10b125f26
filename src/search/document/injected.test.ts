import { expect, test } from "vitest";
import { isInjected, opensInjected, withoutInjected } from "./injected.ts";

function check(text: string, expected: string): void {
  expect(withoutInjected(text).replace(/\s+/g, " ").trim()).toBe(expected);
}

test("injected text is removed, and typed text stays", () => {
  check("fix it <system-reminder>\nbe nice\n</system-reminder> now", "fix it now");
  check("<recalled-context>old lock</recalled-context>why?", "why?");
  check(
    "<command-name>/review</command-name><command-message>review</command-message><command-args>src</command-args>",
    "/review src",
  );
  check("<local-command-stdout>noise</local-command-stdout>", "");
  check("<bash-input>npm test</bash-input><bash-stdout>ok</bash-stdout>", "npm test");
  check("<environment_context><cwd>/x</cwd></environment_context>hello", "hello");
  const said = '<recalled-context from="backscroll" about="data">old lock</recalled-context>';
  check(`<hook_context>${said}</hook_context> why?`, "why?");
  check(`${said.replaceAll("<", "&lt;").replaceAll(">", "&gt;")} why?`, "why?");
  check(
    "<recalled-contexts>kept</recalled-contexts>",
    "<recalled-contexts>kept</recalled-contexts>",
  );
  check("a <ide_selection>x</ide_selection> b <ide_selection>y</ide_selection> c", "a b c");
});

test("the opening summary of a continued session is removed whole", () => {
  check(
    "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.\nSummary: the lock\nContinue.",
    "",
  );
});

test("other markup, and a mentioned tag, stay", () => {
  check("what does <system-reminder> do?", "what does <system-reminder> do?");
  check("<div>a < b</div>", "<div>a < b</div>");
});

test("metadata may mark a message as injected", () => {
  expect(isInjected({ injected: true })).toBe(true);
  expect(isInjected({ recalled: true })).toBe(true);
  expect(isInjected({ injected: "no" })).toBe(false);
  expect(isInjected({})).toBe(false);
});

test("a window item that begins with an injected element is injected, closed or cut off", () => {
  expect(opensInjected("<session_context>\nThis is the Gemini CLI.")).toBe(true);
  expect(opensInjected(" <system-reminder>x</system-reminder>")).toBe(true);
  expect(opensInjected("[Request interrupted by user]")).toBe(true);
  expect(opensInjected("Base directory for this skill: /home/ana/skills/x")).toBe(true);
  expect(opensInjected("What does <system-reminder> do?")).toBe(false);
});
