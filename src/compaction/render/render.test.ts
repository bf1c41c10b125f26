import { expect, test } from "vitest";
import { call, digest, entry, result } from "../digest/digest.cases.ts";
import { continuationMessage, mechanicalSummarizer, renderSummary } from "../render.ts";

const FIRST = [
  entry("01JA01", "system", "You are a careful engineer."),
  entry("01JA02", "user", "Fix the retry in src/queue/worker.ts; see docs/retry.md."),
  entry(
    "01JA03",
    "assistant",
    { type: "thinking", text: "It may also concern src/queue/lease.rs" },
    "I will read it first.",
    call("t1", "Read", { file_path: "src/queue/worker.ts" }),
    call("t2", "Bash", { command: "npm test -- queue\necho `date`" }),
  ),
  entry("01JA04", "tool", result("t1", "export function retry() {}", { name: "Read" })),
  entry(
    "01JA05",
    "tool",
    result("t2", "1 failed: retries\nforever", { name: "Bash", error: true }),
  ),
  entry(
    "01JA06",
    "assistant",
    call("t3", "Edit", { file_path: "src/queue/worker.ts", old: "a", new: "b" }),
  ),
  entry("01JA07", "tool", result("t3", "done", { name: "Edit" })),
  entry(
    "01JA08",
    "assistant",
    "Fixed. Next: the remaining test in test/queue.test.ts, which still hangs.",
  ),
];

const SECOND = [
  entry("01JB01", "user", "- run the tests again\n- and say </summary> what <analysis>happens"),
  entry("01JB02", "assistant", call("t4", "Bash", { command: "npm test -- queue" })),
  entry("01JB03", "tool", result("t4", "ok", { name: "Bash" })),
  entry("01JB04", "assistant", "All tests pass."),
  entry("01JB05", "user", "Now TODO: write src/queue/README.md"),
];

const golden = (name: string) => `../golden/${name}`;

test("a first summary equals claw-code's, line by line", async () => {
  const text = renderSummary(digest(FIRST), "claw");
  await expect(text).toMatchFileSnapshot(golden("first.claw.txt"));
});

test("a second summary has the lines of a first one, and the content of both", async () => {
  const text = renderSummary(digest(SECOND, digest(FIRST)), "claw");
  await expect(text).toMatchFileSnapshot(golden("second.claw.txt"));
});

test("a summary of almost nothing has its scope and its timeline", () => {
  expect(renderSummary(digest([]), "claw")).toBe(
    [
      "<summary>",
      "Conversation summary:",
      "- Scope: 0 earlier messages compacted (user=0, assistant=0, tool=0).",
      "- Key timeline:",
      "</summary>",
    ].join("\n"),
  );
  expect(renderSummary(digest([entry("1", "assistant", " ")]), "claw")).toContain(
    "- Key timeline:\n  - assistant: \n</summary>",
  );
  expect(renderSummary(digest([]), "rich")).toBe(
    "# Summary of the earlier conversation\n\n0 messages: 0 from the user, 0 from the assistant, 0 from tools. An id in brackets names the entry behind a line.",
  );
});

test("the rich summary lists actions and cites them", async () => {
  await expect(renderSummary(digest(FIRST), "rich")).toMatchFileSnapshot(golden("first.rich.txt"));
  const second = renderSummary(digest(SECOND, digest(FIRST)), "rich");
  await expect(second).toMatchFileSnapshot(golden("second.rich.txt"));
});

test("items older than the lines shown are counted", () => {
  const many = Array.from({ length: 260 }, (_, i) =>
    entry(`e${i}`, i % 2 === 0 ? "user" : "assistant", `m${i}`),
  );
  const claw = renderSummary(digest(many), "claw").split("\n");
  expect(claw[claw.indexOf("- Key timeline:") + 1]).toBe(
    "  - earlier: 60 messages (user=30, assistant=30, tool=0) from e0 to e59",
  );
  const rich = renderSummary(digest(many), "rich").split("\n");
  const timeline = rich.slice(rich.indexOf("## Timeline") + 2);
  expect(timeline.slice(0, 3)).toEqual([
    "- 100 messages (user 50, assistant 50, tool 0) [e0] to [e99]",
    "- 100 messages (user 50, assistant 50, tool 0) [e100] to [e199]",
    "- 30 messages (user 15, assistant 15, tool 0) [e200] to [e229]",
  ]);
  expect(timeline.length).toBe(33);
});

test("the mechanical summarizer renders the structure", async () => {
  const structure = digest(FIRST);
  const request = { previous: null, entries: FIRST, structure, splitTurn: false };
  expect(await mechanicalSummarizer("claw").summarize(request)).toEqual({
    text: renderSummary(structure, "claw"),
    model: null,
    finishReason: "stop",
  });
  const stopped = { ...request, signal: AbortSignal.abort(new Error("enough")) };
  await expect(mechanicalSummarizer("rich").summarize(stopped)).rejects.toThrow("enough");
});

test("a conversation continues from claw-code's message", async () => {
  const summary = renderSummary(digest(SECOND, digest(FIRST)), "claw");
  const message = continuationMessage(summary, { tailKept: true });
  await expect(message).toMatchFileSnapshot(golden("second.continuation.txt"));
});
