import { describe, expect, test } from "vitest";
import { readWith } from "../../test/support/reading.ts";
import { CLAUDE_CODE } from "./claude-code/claude-code.ts";
import { CODEX } from "./codex/codex.ts";
import { readRecordBatches } from "./jsonl.ts";
import { splitLines } from "./lines.ts";
import { ProblemLog } from "./problems.ts";

async function records(bytes: Uint8Array, rules: Parameters<typeof readRecordBatches>[2]) {
  const problems = new ProblemLog();
  const found: unknown[] = [];
  for await (const { record } of readRecordBatches(splitLines([bytes]), problems, rules)) {
    found.push(record);
  }
  return { found, codes: problems.first.map(({ code, line }) => `${code} ${line}`) };
}

const SKIM = { skim: (text: string) => (text.startsWith('{"copy"') ? { copy: true } : undefined) };

describe("a line whose beginning suffices", () => {
  test("is not parsed if it is one object", async () => {
    const lines = '{"copy":{"a":[1,"}"]}}\n{"copy":null} \n{"b":1}\n';
    const { found, codes } = await records(Buffer.from(lines), SKIM);
    expect(found).toEqual([{ copy: true }, { copy: true }, { b: 1 }]);
    expect(codes).toEqual([]);
  });

  test("does not hide another record after it", async () => {
    const lines = '{"copy":{"a{"b":1}\n{"copy":1}{"b":1}\n{"copy":{"a":{"b":1}\n{"b":2}\n';
    const { found, codes } = await records(Buffer.from(lines), SKIM);
    expect(found).toEqual([{ b: 2 }]);
    expect(codes).toEqual(["not_json 1", "not_json 2", "not_json 3"]);
  });

  test("is counted if its bytes are damaged", async () => {
    const line = Buffer.from('{"copy":"?"}\n');
    line[line.indexOf("?")] = 0xff;
    expect(await records(line, SKIM)).toEqual({ found: [{ copy: true }], codes: ["not_utf8 1"] });
  });
});

test("values cut out of a line are checked as well", async () => {
  const digest = { name: "long", maxLength: 4, of: () => "cut" };
  const lines = ['{"long":[1,2,3]}', '{"long":[1 2 3]}', '{"long":[one,two]}', '{"long":[1,"a"b]}'];
  const { found, codes } = await records(Buffer.from(`${lines.join("\n")}\n`), { digest });
  expect(found).toEqual([{ long: "cut" }]);
  expect(codes).toEqual(["not_json 2", "not_json 3", "not_json 4"]);
});

describe("a message after a torn record is counted", () => {
  test("in a file of Claude Code", async () => {
    const message = (uuid: string, parentUuid: string | null) =>
      JSON.stringify({
        parentUuid,
        isSidechain: false,
        type: "user",
        sessionId: "s",
        cwd: "/x",
        uuid,
        timestamp: "2026-01-01T00:00:00Z",
        message: { role: "user", content: uuid },
      });
    const torn = '{"type":"file-history-snapshot","messageId":"m","snapshot":{"messageId":"m","a';
    const file = [message("1", null), torn + message("2", "1"), message("3", "1")].join("\n");
    const { sessions, problems } = await readWith(CLAUDE_CODE, `${file}\n`);
    expect(sessions[0]?.entries.map(({ sourceId }) => sourceId)).toEqual(["1", "3"]);
    expect(problems).toMatchObject([{ code: "not_json", line: 2 }]);
  });

  test("in a file of Codex CLI", async () => {
    const record = (type: string, payload: object) =>
      JSON.stringify({ timestamp: "2026-01-01T00:00:00Z", type, payload });
    const said = (text: string) =>
      record("response_item", {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text }],
      });
    const torn = record("event_msg", { type: "agent_message", message: "abc" }).slice(0, -6);
    const header = record("session_meta", { id: "s", cwd: "/x" });
    // Events are skimmed once an item was met: in the next batch of lines.
    const many = Array.from({ length: 300 }, (_, i) => said(`${i}`));
    const file = [header, ...many, torn + said("lost")].join("\n");
    const { problems } = await readWith(CODEX, `${file}\n`, { path: "/r/rollout-s.jsonl" });
    expect(problems).toMatchObject([{ code: "not_json", line: 302 }]);
  });
});
