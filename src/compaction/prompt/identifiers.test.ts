import { expect, test } from "vitest";
import { cpuMs } from "../../../test/support/cpu-time.ts";
import { call, entry } from "../digest/digest.cases.ts";
import { frequentIdentifiers, identifiersOfText } from "./summary-prompt.ts";

function check(text: string, expected: string[]): void {
  expect(identifiersOfText(text)).toEqual(expected);
}

test("exact names are found", () => {
  check("see src/queue/worker.ts, ./a/b and ~/x/y.md.", [
    "src/queue/worker.ts",
    "./a/b",
    "~/x/y.md",
  ]);
  check("/etc/hosts, a/b/c, (https://example.com/x?y=1).", [
    "/etc/hosts",
    "a/b/c",
    "https://example.com/x?y=1",
  ]);
  check("package.json or worker.test.ts", ["package.json", "worker.test.ts"]);
  check("MAX_RETRIES, retry_queue, retryQueue, RetryQueue", [
    "MAX_RETRIES",
    "retry_queue",
    "retryQueue",
    "RetryQueue",
  ]);
  check("TS2304, ECONNREFUSED, CVE-2024-1234", ["TS2304", "ECONNREFUSED", "CVE-2024-1234"]);
  check("see #42 in v1.20.3", ["#42", "v1.20.3"]);
  check("调用retryQueue时出错", ["retryQueue"]);
});

test("plain words, numbers and citations are no names", () => {
  check("The user wants 12 of 400 Things, e.g. now. And/or read/write later?", []);
  check("[01ARZ3NDEKTSV4RRFFQ69G5FAV]", []);
});

test("the most mentioned identifiers come first, and one mention is not enough", () => {
  const entries = [
    entry("EVENT_1", "user", "src/a.ts and src/b.ts, see EVENT_1"),
    entry(
      "2",
      "assistant",
      "EVENT_1",
      call("t", "Edit", { file_path: "src/b.ts", old_string: "someName ".repeat(99) }),
    ),
    entry(
      "3",
      "assistant",
      "src/b.ts uses src/a.ts, src/a.ts, src/c.ts",
      call("t", "Edit", "{half"),
    ),
  ];
  expect(frequentIdentifiers(entries)).toEqual(["src/b.ts", "src/a.ts"]);
});

test("runs in linear time on any text", () => {
  for (const unit of [".", "-", "_", "a_", "a-", "a.", "/", "aB", "@", "A1-", "http://"]) {
    const cost = cpuMs(() => void identifiersOfText(`x${unit.repeat(20_000)}`));
    expect(cost).toBeLessThan(5_000);
  }
});
