import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { REDACTED } from "../secrets/redact.ts";
import { factRedactionOf, redactFact, redactPersonal } from "./redact-fact.ts";

/** `subject | predicate | object` in, the same out, or null. */
function check(fact: string, expected: string | null, redaction?: "personal"): void {
  const [subject = "", predicate = "", object = ""] = fact.split(" | ");
  const kept = redactFact({ subject, predicate, object }, redaction ?? "secrets");
  const shown = kept === null ? null : `${kept.subject} | ${kept.predicate} | ${kept.object}`;
  expect(shown).toBe(expected);
}

const MARK = REDACTED;

describe("secrets", () => {
  test("are removed from each part of a fact", () => {
    check(
      "deploy | uses | sk-abcdefghij0123456789 for uploads",
      `deploy | uses | ${MARK} for uploads`,
    );
    check(
      "database | is at | postgres://app:hunter22@db.local/app",
      `database | is at | postgres://app:${MARK}@db.local/app`,
    );
  });

  test("drop the fact if its subject or predicate names a secret", () => {
    check("Ana | password | hunter22", null);
    check("Ana | password is | hunter22", null);
    check("API key | is | abcdef123456", null);
    check("sk-abcdefghij0123456789 | belongs to | Ana", null);
  });

  test("are not detected in ordinary statements", () => {
    check("Ana | prefers | tabs", "Ana | prefers | tabs");
    check("login | uses | a password manager", "login | uses | a password manager");
    check("Ana | e-mail | ana@example.org", "Ana | e-mail | ana@example.org");
  });
});

describe("personal data", () => {
  test("drops a fact that has no other content", () => {
    check("Ana | e-mail | ana@example.org", null, "personal");
    check("Ana | phone | +49 30 901820", null, "personal");
    check("192.0.2.7 | is | the office", null, "personal");
    const kept = `Ana | is reached at | ${MARK} on Mondays`;
    check("Ana | is reached at | ana@example.org on Mondays", kept, "personal");
  });

  const personal = [
    "ana.b+x@mail.example.org",
    "jürgen@bücher.example",
    "+49 30 901820",
    "0049-30-901820",
    "(030) 901 820 12",
    "030 9018 2012",
    "555-123-4567",

    "4111 1111 1111 1111",
    "4111\u00a01111\u00a01111\u00a01111",
    "5500-0000-0000-0004",
    "378282246310005",
    "DE89 3704 0044 0532 0130 00",
    "GB29NWBK60161331926819",
    "192.0.2.7",
    "2001:db8::8a2e:370:7334",
    "fe80::1",
    "2001:db8:0:0:0:0:0:1",
  ];
  test.each(personal)("%s is found", (text) => {
    expect(redactPersonal(`it is ${text}, they say`)).toBe(`it is ${MARK}, they say`);
    expect(redactPersonal(text)).toBe(MARK);
    expect(redactPersonal(`12 and ${text} at the bank`)).toBe(`12 and ${MARK} at the bank`);
  });

  const other = [
    "2026-11-15",
    "15.11.2026",
    "12:30:45",
    "v1.2.3",
    "1.2.3.400",
    "127.0.0.1",
    "::1",
    "4111 1111 1111 1112",
    "1700000000000",
    "port 5432",
    "10,000 tokens",
    "std::vector",
    "GB00NWBK60161331926819",
    "@ana",
    "a::b",
    "1/2/2026",
    "120000",
    "0.25",
    "node 22.18.0",
  ];
  test.each(other)("%s is kept", (text) => {
    expect(redactPersonal(`it is ${text}, they say`)).toBe(`it is ${text}, they say`);
  });

  test("is redacted idempotently", () => {
    const piece = fc.oneof(fc.constantFrom(...personal, ...other), fc.string());
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 5 }), (pieces) => {
        const once = redactPersonal(pieces.join(" "));
        expect(redactPersonal(once)).toBe(once);
      }),
    );
  });
});

test("a session configures redaction, and an unknown value redacts the most", () => {
  const read = (redact: unknown) => factRedactionOf({ facts: { redact } as never });
  expect([undefined, null, false, "secrets"].map(read)).toEqual(Array(4).fill("secrets"));
  expect([true, "personal", "all", 1].map(read)).toEqual(Array(4).fill("personal"));
  expect(factRedactionOf({})).toBe("secrets");
});
