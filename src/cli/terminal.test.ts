import { expect, test, vi } from "vitest";
import { askText, askYesNo } from "./terminal.ts";

test.each([
  ["yes or no", askYesNo],
  ["a text", askText],
])("a question for %s cannot command the terminal", async (_, ask) => {
  const written: string[] = [];
  const write = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  const answered = ask("/srv/\u001b]0;mine\u0007 is gone.\nPut it back?");
  process.stdin.emit("data", Buffer.from("y\n"));
  await answered;
  write.mockRestore();
  expect(written.join("")).toMatch(/^\/srv\/␛\]0;mine␇ is gone\.\nPut it back\? /);
});
