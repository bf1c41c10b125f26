import { expect, test } from "vitest";
import { bareCommand } from "./read-acts.ts";
import { isLookup } from "./recap.ts";
import { isSameFile, lineWith, seek } from "./trace-session.ts";

test.each([
  ["ls -la", true],
  ["cd src && git status", true],
  ["git -C /shop log --oneline | head -5", true],
  ["grep -rn 'a | b > c' src 2>/dev/null", true],
  ["sed -n 1,5p a.ts", true],
  ["gh pr diff 343", true],
  ["gh api repos/a/b/pulls/1/comments --jq '.[0] | .id'", true],
  ["gh api repos/a/b/issues -f title=x", false],
  ["sed -i s/a/b/ a.ts", false],
  ["find . -name '*.log' -delete", false],
  ["echo x > a.ts", false],
  ["cat <<EOF", false],
  ["git commit -m x", false],
  ["npm test", false],
  ["ls; rm -r dist", false],
  ["echo $(rm -r dist)", false],
])("whether %j only looks: %s", (command, looks) => {
  expect(isLookup(command)).toBe(looks);
});

test.each([
  ["npm test 2>&1 | tail -30", "npm test"],
  ["go test ./... 2>/dev/null | head -n 5", "go test ./..."],
  ["npm run  build", "npm run build"],
  ["cat a | grep b", "cat a | grep b"],
])("%j is the same run as %j", (command, bare) => {
  expect(bareCommand(command)).toBe(bare);
});

test.each([
  ["/home/ana/shop/src/cron.ts", "src/cron.ts", true],
  ["./src/cron.ts", "/home/ana/shop/src/cron.ts", true],
  ["src/cron.ts", "cron.ts", true],
  ["src/micron.ts", "cron.ts", false],
  ["src/cron.ts", "lib/cron.ts", false],
  ["src/cron.ts", "/", false],
])("%j and %j are one file: %s", (a, b, same) => {
  expect(isSameFile(a, b)).toBe(same);
});

test("an error matches in any case and spacing, also across lines", () => {
  const lineOf = (text: string, error: string) =>
    lineWith(text, seek({ kind: "error", text: error }, true).find);
  expect(lineOf("ok\n  Database  is LOCKED\nend", "database is locked")).toBe(
    "  Database  is LOCKED",
  );
  expect(lineOf("a\nnot assignable\nto type", "not assignable to type")).toBe("not assignable");
  expect(lineOf("fine", "locked")).toBeUndefined();
  const long = lineOf(`${"x ".repeat(5_000)}it is locked${" y".repeat(5_000)}`, "is locked");
  expect([long?.length, long?.includes("it is locked")]).toEqual([1_000, true]);
});
