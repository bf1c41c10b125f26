import { expect, test } from "vitest";
import { endOutsideSecret, startOutsideSecret } from "./cut-outside-secrets.ts";
import { redact } from "./redact.ts";

const KEY = "ghp_aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6";

test("masking leaves no half of a secret at the end of a cut", () => {
  const before = `password: hunter2-hunter2\nthe key is `;
  const text = `${before}${KEY} and works`;
  for (let end = 0; end <= text.length; end++) {
    const isInside = end > before.length && end < before.length + KEY.length;
    const cut = endOutsideSecret(text, end);
    expect(cut).toBeLessThanOrEqual(end);
    if (isInside) expect(redact(text.slice(0, cut)).text).toMatch(/ (\[redacted\])?$/);
    if (end <= "password: ".length || end >= before.length + KEY.length) expect(cut).toBe(end);
  }
});

test("ends where little is left of a text without words", () => {
  expect(endOutsideSecret("", 0)).toBe(0);
  expect(endOutsideSecret(KEY, 10)).toBe(0);
});

test("masking leaves no half of a secret at the start of a cut", () => {
  const pem = `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkqhkiG9w0BAQ\n".repeat(40)}-----END PRIVATE KEY-----`;
  for (const secret of [KEY, pem]) {
    const text = `it is ${secret} and works`;
    for (let start = 0; start <= text.length; start++) {
      const cut = startOutsideSecret(text, start);
      expect(cut).toBeGreaterThanOrEqual(start);
      const shown = redact(text.slice(cut)).text;
      expect(shown === "" || redact(text).text.endsWith(shown)).toBe(true);
    }
  }
});
