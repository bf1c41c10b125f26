import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cpuMs } from "../../../test/support/cpu-time.ts";
import { REDACTED, redact } from "./redact.ts";

/** What a key is made of; put together here, so that no scanner takes this file for a leak. */
const BODY = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6";

/** `secret` inside a sentence is replaced, and nothing else is. */
function hides(secret: string, kept = ""): void {
  expect(redact(`before ${kept}${secret} after`).text).toBe(`before ${kept}${REDACTED} after`);
}

function keeps(text: string): void {
  expect(redact(text)).toEqual({ text, count: 0 });
}

describe("keys that are known by how they begin", () => {
  test.each([
    ["sk-", `proj-${BODY}`],
    ["sk-ant-", `api03-${BODY}`],
    ["ghp_", BODY],
    ["gho_", BODY],
    ["github_pat_", BODY],
    ["glpat-", BODY],
    ["bsk_", `01JZ8Q4V7N6D0M3T5R9W2XKYBC_${BODY}-_`],
    ["AKIA", "IOSFODNN7EXAMPLE"],
    ["AIza", `Sy${BODY.slice(0, 33)}`],
    ["xoxb-", `123456789012-${BODY}`],
    ["sk_live_", BODY],
    ["rk_test_", BODY],
    ["npm_", BODY],
    ["hf_", BODY],
    ["eyJ", `hbGciOiJIUzI1NiJ9.eyJ${BODY}.${BODY}`],
  ])("%s…", (start, rest) => hides(start + rest));

  test("but not words that begin alike", () => {
    keeps("use sk-learn for the task-management-system-of-2024, ask-the-audience-1234567890");
    keeps("npm_config_registry and hf_hub_download_with_retries");
    keeps("eyJ is how JSON begins in Base64");
  });
});

describe("credentials that are named", () => {
  test("in assignments", () => {
    hides("hunter2", "password: ");
    hides("s3cr3t-value", "DB_PASSWORD=");
    hides("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY1", "AWS_SECRET_ACCESS_KEY = ");
    hides(`${BODY}`, "token=");
    expect(redact('{"apiKey": "abcdefghij", "n": 1}').text).toBe(
      `{"apiKey": "${REDACTED}", "n": 1}`,
    );
  });

  test("in headers", () => {
    hides(BODY, "Authorization: Bearer ");
    hides("dXNlcjpwYXNzd29yZA==", "authorization: Basic ");
    hides(`abc.${BODY}`, "curl -H Bearer ");
  });

  test("in addresses, of which the rest stays", () => {
    expect(redact("postgres://ana:pa55@db.example.com:5432/app?x=1")).toEqual({
      text: `postgres://ana:${REDACTED}@db.example.com:5432/app?x=1`,
      count: 1,
    });
    keeps("https://example.com:8080/@scope/pkg and git@github.com:a/b.git");
  });

  test("but not types, expressions and prose", () => {
    keeps("function login(password: string, token: string | null) {}");
    keeps("const token = getToken(); secret: process.env.SECRET");
    keeps("password: $PASSWORD token=<your token> api_key=");
    keeps("the token budget: 8000 tokens, max_tokens=4096, basic understanding, bearer of news");
  });
});

describe("private keys", () => {
  const key = (kind: string) =>
    `-----BEGIN ${kind}PRIVATE KEY-----\n${BODY}\n${BODY}==\n-----END ${kind}PRIVATE KEY-----`;

  test("go from begin to end", () => {
    hides(key(""));
    hides(key("OPENSSH "));
    hides(key("RSA ").replaceAll("\n", "\\n"));
    expect(redact(`${key("EC ")} and ${key("")}`).count).toBe(2);
  });

  test("go to the end of what may be a key where the end is missing", () => {
    expect(redact(`x ${key("").split("-----END")[0]}`).text).toBe(`x ${REDACTED}`);
  });
});

test("doing it twice changes nothing more", () => {
  const piece = fc.constantFrom(
    ...[
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
    ],
    ...["://", "user", ":", "@", "host", "Bearer ", "Authorization", "-----BEGIN PRIVATE KEY-----"],
    ...["-----END PRIVATE KEY-----", "\n", ".", REDACTED, "[", "]", "/", "abc1", "不"],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const once = redact(pieces.join("")).text;
      expect(redact(once).text).toBe(once);
    }),
    { numRuns: 2_000 },
  );
});

test("a megabyte of anything is done promptly", () => {
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
  // Quadratic time would be minutes.
  expect(cost).toBeLessThan(10_000);
});
