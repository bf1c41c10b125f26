import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const SRC = join(import.meta.dirname, "..");
const NUMBERED =
  /\b(?:triggerTurns|triggerTokens|reserveTokens|reserveTokensFloor|keepRecentTokens|minGainTokens|cooldownMessages|softThresholdTokens|keepTokens|flushTokens)\b\s*(?:[:=]|\?\?)\s*[1-9]/;

test("the numbers of compaction are in one file", () => {
  const files = globSync("**/*.{ts,tsx}", { cwd: SRC }).filter(
    (file) => !/\.(test|cases)\.tsx?$/.test(file),
  );
  const naming = files.filter((file) => NUMBERED.test(readFileSync(join(SRC, file), "utf8")));
  expect(naming).toEqual([join("model", "compaction-numbers.ts")]);
});
