import { expect, test } from "vitest";
import { typedCommand } from "./tool-call.ts";

test.each([
  [
    "<command-name>/exit</command-name>\n  <command-message>exit</command-message>\n  <command-args></command-args>",
    { command: "/exit", output: "" },
  ],
  [
    "<command-message>review</command-message>\n<command-name>/review</command-name><command-args>src</command-args>",
    { command: "/review src", output: "" },
  ],
  ["<bash-input>ls -l</bash-input>", { command: "! ls -l", output: "" }],
  ["<bash-stdout>a\nb</bash-stdout><bash-stderr></bash-stderr>", { command: "", output: "a\nb" }],
  ["<local-command-stdout></local-command-stdout>", { command: "", output: "" }],
])("%j is shown as typed", (text, expected) => {
  expect(typedCommand(text)).toEqual(expected);
});

test.each([
  "Why <command-name>/exit</command-name>?",
  "<command-name>/exit",
  "<b>bold</b>",
  "",
  "<command-message>neither a name nor an output</command-message>",
  "<bash-input>ls</bash-input><bash-input>pwd</bash-input>",
  "<bash-input>ls</bash-input><command-name>/exit</command-name>",
])("%j is text", (text) => {
  expect(typedCommand(text)).toBeUndefined();
});

test("elements without an end are read once, however many there are", () => {
  const closed = "<bash-stdout></bash-stdout>".repeat(100_000);
  expect(typedCommand(closed)).toEqual({ command: "", output: "" });
  expect(typedCommand("<bash-stdout>".repeat(100_000))).toBeUndefined();
  expect(typedCommand(`${closed}<bash-stdout>`)).toBeUndefined();
});
