import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cpuMs } from "../../test/support/cpu-time.ts";
import { REDACTED, redact } from "./redact.ts";

/** The body of a key; concatenated, so that secret scanners ignore this file. */
const BODY = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6";

const LETTERS = "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH";
const HEX = "0123456789abcdef0123456789abcdef";

/** `secret` inside a sentence is replaced, and nothing else is. */
function hides(secret: string, kept = ""): void {
  expect(redact(`before ${kept}${secret} after`).text).toBe(`before ${kept}${REDACTED} after`);
}

function keeps(text: string): void {
  expect(redact(text)).toEqual({ text, count: 0 });
}

describe("keys with a known prefix", () => {
  test.each([
    ["sk-", `proj-${BODY}`],
    ["sk-ant-", `api03-${BODY}`],
    ["ghp_", BODY],
    ["gho_", BODY],
    ["github_pat_", BODY],
    ["glpat-", BODY],
    ["bsk_", `01JZ8Q4V7N6D0M3T5R9W2XKYBC_${BODY}-_`],
    ["bss_", `01JZ8Q4V7N6D0M3T5R9W2XKYBC_${BODY}-_`],
    ["AKIA", "IOSFODNN7EXAMPLE"],
    ["AIza", `Sy${BODY.slice(0, 33)}`],
    ["xoxb-", `123456789012-${BODY}`],
    ["sk_live_", BODY],
    ["rk_test_", BODY],
    ["npm_", BODY],
    ["hf_", BODY],
    ["hf_", LETTERS],
    ["SG.", `${BODY.slice(0, 22)}.${BODY}${BODY.slice(0, 7)}`],
    ["SG.", `${LETTERS.slice(0, 22)}.${LETTERS}${LETTERS.slice(0, 9)}`],
    ["dop_v1_", HEX.repeat(2)],
    ["doo_v1_", HEX.repeat(2)],
    ["eyJ", `hbGciOiJIUzI1NiJ9.eyJ${BODY}.${BODY}`],
  ])("%s…", (start, rest) => hides(start + rest));

  test.each(["\\n", "\\t", "\\r"])("also after the JSON escape %s", (mark) => {
    for (const key of [`ghp_${BODY}`, `sk-ant-api03-${BODY}`, "AKIAIOSFODNN7EXAMPLE"]) {
      hides(key, `{"command":"cat${mark}`);
    }
    hides("4111111111111111", `"number:${mark}`);
    expect(redact(`x${mark}Bearer ${BODY}`).text).toBe(`x${mark}Bearer ${REDACTED}`);
  });

  test("except words with the same prefix", () => {
    keeps("use sk-learn for the task-management-system-of-2024, ask-the-audience-1234567890");
    keeps("npm_config_registry and hf_hub_download_with_retries");
    keeps("hf_transformersautomodelforcausallm, SG.en and Fig. SG.1.2, dop_v1_token_of_2024");
    keeps("eyJ is how JSON begins in Base64");
  });
});

describe("credentials that are named", () => {
  test("in assignments", () => {
    hides("hunter2", "password: ");
    hides("s3cr3t-value", "DB_PASSWORD=");
    hides("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY1", "AWS_SECRET_ACCESS_KEY = ");
    hides(`${BODY}`, "token=");
    for (const name of ["api key: ", "API Key = ", "Secret key: ", "access key: "])
      hides(HEX, name);
    expect(redact('{"apiKey": "abcdefghij", "n": 1}').text).toBe(
      `{"apiKey": "${REDACTED}", "n": 1}`,
    );
  });

  test("in headers", () => {
    hides(BODY, "Authorization: Bearer ");
    hides("dXNlcjpwYXNzd29yZA==", "authorization: Basic ");
    hides(`abc.${BODY}`, "curl -H Bearer ");
  });

  test("in URLs, whose other parts stay", () => {
    expect(redact("postgres://ana:pa55@db.example.com:5432/app?x=1")).toEqual({
      text: `postgres://ana:${REDACTED}@db.example.com:5432/app?x=1`,
      count: 1,
    });
    keeps("https://example.com:8080/@scope/pkg and git@github.com:a/b.git");
  });

  test("except types, expressions and prose", () => {
    keeps("function login(password: string, token: string | null) {}");
    keeps("const token = getToken(); secret: process.env.SECRET");
    keeps("password: $PASSWORD token=<your token> api_key=");
    keeps("the token budget: 8000 tokens, max_tokens=4096, basic understanding, bearer of news");
  });
});

describe("card numbers", () => {
  /** Issuers' test numbers, concatenated. */
  const CARDS = [
    ["4111", "1111", "1111", "1111"],
    ["5555", "5555", "5555", "4444"],
    ["2223", "0031", "2200", "3222"],
    ["3782", "822463", "10005"],
    ["6011", "1111", "1111", "1117"],
    ["3530", "1113", "3330", "0000"],
    ["3056", "930902", "5904"],
    ["6200", "0000", "0000", "0005"],
    ["6205", "5000", "0000", "0000", "004"],
  ];
  test.each(CARDS)("%s %s %s …", (...groups) => {
    for (const between of [" ", "\u00a0", "\u202f", "-"]) {
      hides(groups.filter(Boolean).join(between));
    }
    hides(groups.join(""), "card=");
  });

  test("except with a wrong check digit, another issuer or inside other text", () => {
    const [visa = ""] = CARDS.map((groups) => groups.join(""));
    keeps(`${visa.slice(0, -1)}2 and 9${visa.slice(1)}`);
    keeps("1794872256642 1794872256642123 1794872256642123456 20261116235959 2026-11-16 23:59");
    keeps(`0.${visa} x${visa} ${visa}x /dev/${visa}/x ${visa}.5 ${visa}0123 -${visa} ${HEX}`);
    keeps("1234 5678 9012 3456 and 0000-0000-0000-0000");
    keeps("01JZ8Q4V7N6D0M3T5R9W2XKYBC 123e4567-e89b-12d3-a456-426614174000");
  });

  test("one random number of sixteen digits in forty may be a false positive", () => {
    let taken = 0;
    let seed = 20261116;
    for (let i = 0; i < 20_000; i++) {
      let digits = "";
      while (digits.length < 16) {
        seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
        digits += String(Math.floor((seed / 2 ** 31) * 1e8)).padStart(8, "0");
      }
      taken += redact(digits).count;
    }
    expect(taken / 20_000).toBeLessThan(1 / 40);
  });
});

describe("private keys", () => {
  const key = (kind: string) =>
    `-----BEGIN ${kind}PRIVATE KEY-----\n${BODY}\n${BODY}==\n-----END ${kind}PRIVATE KEY-----`;

  test("are masked from begin to end", () => {
    hides(key(""));
    hides(key("OPENSSH "));
    hides(key("RSA ").replaceAll("\n", "\\n"));
    expect(redact(`${key("EC ")} and ${key("")}`).count).toBe(2);
  });

  test("are masked as far as key text goes if the end is missing", () => {
    expect(redact(`x ${key("").split("-----END")[0]}`).text).toBe(`x ${REDACTED}`);
  });
});

test("is idempotent", () => {
  const piece = fc.constantFrom(
    "sk-",
    "ghp_",
    "AKIA",
    "eyJ",
    BODY,
    "password",
    "token",
    "api_key",
    "=",
    ": ",
    '"',
    "'",
    " ",
    "://",
    "user",
    ":",
    "@",
    "host",
    "Bearer ",
    "Authorization",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "\n",
    ".",
    REDACTED,
    "[",
    "]",
    "/",
    "abc1",
    "不",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const once = redact(pieces.join("")).text;
      expect(redact(once).text).toBe(once);
    }),
    { numRuns: 2_000 },
  );
});

test("a megabyte of any text takes linear time", () => {
  const units = ["a", "=", "sk-", "eyJ-", "eyJ.", "token=", "password:", "://", "://a:", "://a:b@"];
  const more = [
    "Bearer ",
    "-----BEGIN PRIVATE KEY-----.",
    "-----BEGIN ",
    "token ",
    "authorization:",
  ];
  const cost = cpuMs(() => {
    for (const unit of [...units, ...more]) {
      const text = unit.repeat(Math.ceil(2 ** 20 / unit.length));
      expect(typeof redact(text).text).toBe("string");
    }
  });
  // Quadratic time would take minutes.
  expect(cost).toBeLessThan(10_000);
});
