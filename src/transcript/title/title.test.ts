import { describe, expect, test } from "vitest";
import { titleOfRequest } from "./request-title.ts";
import { TitleMaker, titleFromSource, titlePatch } from "./title-maker.ts";
import { shortenTitle } from "./title-text.ts";

function titleOf(...requests: readonly string[]): string | undefined {
  const titles = new TitleMaker();
  for (const request of requests) titles.addRequest(request);
  return titles.made()?.title;
}

describe("the first meaningful request", () => {
  test.each([
    ["skips a bare command", ["/clear", "Sort the invoices by date"], "Sort the invoices by date"],
    [
      "skips a greeting",
      ["hi", "Hello!", "Sort the invoices by date"],
      "Sort the invoices by date",
    ],
    [
      "skips an acknowledgement",
      ["ok, go ahead", "yes please", "Sort the invoices"],
      "Sort the invoices",
    ],
    [
      "uses the arguments of a command",
      ["/plan sort the invoices by date"],
      "sort the invoices by date",
    ],
    [
      "keeps the command of short arguments",
      ["/review 167", "Now the rest of the files"],
      "review 167",
    ],
    [
      "does not take a path for a command",
      ["/etc/hosts has a wrong entry for mail"],
      "/etc/hosts has a wrong entry for mail",
    ],
    [
      "uses the heading of a plan",
      ["Implement the following plan:\n\n# Sort invoices by date\n\n## Context"],
      "Sort invoices by date",
    ],
    [
      "drops the prefix of a plan's heading",
      ["Implement the following plan:\n\n# Plan: Sort invoices by date"],
      "Sort invoices by date",
    ],
    [
      "uses a plan on the same line",
      ["Implement this plan: sort the invoices by date"],
      "sort the invoices by date",
    ],
    [
      "uses the text of a plan without a heading",
      ["Please implement the attached plan.\n\n## Context\n\nInvoices are shown out of order."],
      "Invoices are shown out of order.",
    ],
    [
      "drops the markers of a template",
      ["[[ ## user_query ## ]]\nSort the invoices by date\n[[ ## completed ## ]]"],
      "Sort the invoices by date",
    ],
    [
      "drops the tags of a template",
      ["<task>\nSort the invoices by date\n</task>"],
      "Sort the invoices by date",
    ],
    [
      "a role",
      ["You are an expert accountant. Sort the invoices by date."],
      "Sort the invoices by date.",
    ],
    [
      "skips a role on its own line",
      ["You are an expert accountant.\n\nSort the invoices by date."],
      "Sort the invoices by date.",
    ],
    [
      "reads the command of a pasted shell",
      ["ana@box shop % make test\nFAIL\n", "Why does the tax test fail?"],
      "Why does the tax test fail?",
    ],
    [
      "skips a shell before the question",
      ["$ npm run build\nWhy does bundling the page fail?"],
      "Why does bundling the page fail?",
    ],
    [
      "drops a copied prompt",
      ["❯ This branch adds a tax table, review it"],
      "This branch adds a tax table, review it",
    ],
    [
      "skips fenced code",
      ["```js\nconst total = 1;\n```\nWhy is the total wrong?"],
      "Why is the total wrong?",
    ],
    [
      "joins a line that announces the next",
      ["when running:\nmake invoices it prints nothing"],
      "when running: make invoices it prints nothing",
    ],
    [
      "drops the marker of an image",
      ["[Image #1] the invoice footer overlaps"],
      "the invoice footer overlaps",
    ],
    ["reads scripts without spaces", ["请求列表排序错误"], "请求列表排序错误"],
    ["uses a poor request if there is no other", ["hi", "fix tests"], "fix tests"],
    [
      "prefers the better of two",
      ["fix tests", "the invoice tests fail on Windows"],
      "the invoice tests fail on Windows",
    ],
  ])("%s", (_what, requests, title) => {
    expect(titleOf(...requests)).toBe(title);
  });

  test("is absent without a request", () => {
    expect(titleOf("hi", "/clear", "Warmup", "1", "continue", "…")).toBeUndefined();
  });

  test("a session of commands only is named by the answer", () => {
    const titles = new TitleMaker();
    titles.addRequest("/review");
    titles.addAnswer("How can I help you with the review today?");
    titles.addAnswer("Here it is.\n\n## Code review: sorting of invoices\n\nLooks good.");
    expect(titles.made()?.title).toBe("Code review: sorting of invoices");
  });
});

describe("a title is one line of at most 80 characters", () => {
  test("cut between words", () => {
    const title = shortenTitle("invoice ".repeat(1_000));
    expect(title).toBe(`${Array(9).fill("invoice").join(" ")}…`);
  });

  test("or after a sentence", () => {
    const sentence = "Sort the invoices by the date of their last payment.";
    expect(shortenTitle(`${sentence} Then print them all, and send the first page.`)).toBe(
      sentence,
    );
  });

  test("inside an endless word, and never inside a character", () => {
    expect(shortenTitle("x".repeat(1_000))).toBe(`${"x".repeat(79)}…`);
    for (let i = 70; i < 90; i++) {
      const title = shortenTitle(`${"x".repeat(i)}${"😀".repeat(20)}`);
      expect(title.isWellFormed() && title.length <= 80).toBe(true);
    }
  });

  test("of a request of any size, in short time", () => {
    for (const part of ["a ", "<", "[[", "$ ", "- ", "you are ", "plan: ", "\n", "```\n", "/a/"]) {
      expect((titleOfRequest(part.repeat(1_000_000))?.title ?? "").length).toBeLessThanOrEqual(80);
    }
  });
});

describe("a source's title", () => {
  test.each([
    [
      "is used if it is distinctive",
      "Invoices out of order",
      { title: "Invoices out of order", isMade: false },
    ],
    ["is dropped if it is a placeholder", "New session - 2026-05-04T10:00:00.000Z", undefined],
    ["is dropped if it is a generic name", "New Chat", undefined],
    ["is dropped if it is a bare command", "/clear", undefined],
    [
      "is derived from a copied request",
      "Implement the following plan:\n\n# Sort invoices by date",
      { title: "Sort invoices by date", isMade: true },
    ],
  ])("%s", (_what, title, expected) => {
    const found = titleFromSource(title);
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(expected);
  });
});

describe("a title after another reading", () => {
  const made = { title: "Sort the invoices by date", grade: 3 } as const;

  test("a title that was set stays, with any source title", () => {
    const own = { title: "Mine", metadata: {} };
    expect(titlePatch(own, null, made)).toEqual({});
    expect(titlePatch(own, "The agent's own title", made)).toEqual({ title: "Mine" });
  });

  test("a source's title is replaced by its next one", () => {
    const given = { title: "Invoices out of order", metadata: { titleFrom: "source" } };
    expect(titlePatch(given, "Invoices sorted by date", made)).toEqual({
      title: "Invoices sorted by date",
      metadata: { titleFrom: "source" },
    });
  });

  test("a derived title is replaced only by a better one", () => {
    const metadata = { titleFrom: "request" };
    expect(titlePatch({ title: "fix tests", metadata }, null, made).title).toBe(made.title);
    expect(titlePatch({ title: "Print the second invoice page", metadata }, null, made)).toEqual(
      {},
    );
  });

  test("a placeholder of the source is replaced", () => {
    expect(titlePatch({ title: "New chat", metadata: {} }, "New chat", made).title).toBe(
      made.title,
    );
    expect(titlePatch({ title: "New chat", metadata: {} }, "New chat", undefined).title).toBe("");
  });
});
