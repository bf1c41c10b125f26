import { expect, test } from "vitest";
import { isTestRun } from "./explain.ts";

test("a command that tells of tests, or looks for them, runs none", () => {
  for (const command of ["npm test", "go test ./... -run TestTax", "cd api && npx vitest run"]) {
    expect(isTestRun(command), command).toBe(true);
  }
  for (const command of [
    'gh pr create --draft --body "$(cat <<EOF\nAll tests pass: npm test\nEOF\n)"',
    'git commit -m "fix: npm test"',
    "gh api repos/a/b/issues -f body='lint and check'",
    "grep -r test src",
  ]) {
    expect(isTestRun(command), command).toBe(false);
  }
});
