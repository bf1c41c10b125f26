import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { redact } from "../src/secrets/redact.ts";
import { ORDINARY } from "./support/ordinary-lines.ts";
import { SECRETS } from "./support/secret-corpus.ts";

const ROOT = join(import.meta.dirname, "..");

test("every secret of the corpus is masked, whatever its form", () => {
  expect(SECRETS.length).toBeGreaterThan(240);
  const missed = SECRETS.filter(({ text, secret }) => redact(text).text.includes(secret));
  expect(missed).toEqual([]);
});

test("masking twice changes nothing more", () => {
  for (const { text } of SECRETS) {
    const once = redact(text).text;
    expect(redact(once).text).toBe(once);
  }
});

test("the lines that must stay are many", () => expect(ORDINARY.length).toBeGreaterThan(190));

test.each(ORDINARY)("stays: %s", (line) => expect(redact(line)).toEqual({ text: line, count: 0 }));

test("of this project's own code and hashes, which have no secrets, nothing is masked", () => {
  const files = globSync(["src/**/*.{ts,tsx}", "scripts/**/*.js", "package-lock.json"], {
    cwd: ROOT,
  }).filter((file) => !/\.(test|cases|stress)\.tsx?$|secrets|fixtures/.test(file));
  let lines = 0;
  const masked = files.flatMap((file) =>
    readFileSync(join(ROOT, file), "utf8")
      .split("\n")
      .filter((line) => {
        lines++;
        return redact(line).count > 0;
      })
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(lines).toBeGreaterThan(50_000);
  expect(masked).toEqual([]);
});
