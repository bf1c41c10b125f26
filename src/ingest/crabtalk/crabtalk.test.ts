import { describe, expect, test } from "vitest";
import { outline, readInSteps, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import { CRABTALK } from "./crabtalk.ts";

const FILE = fixture("crabtalk/session.jsonl");
const PATH = "/home/ana/.crabtalk/sessions/crab_ana_1.jsonl";

const EXPECTED = [
  "line-2 user: Look at cron.",
  "line-3 assistant: [thinking] [bash]",
  "line-4 tool: [result]",
  "line-5 assistant: One job.",
  "line-6 compaction: [archived context: crab_ana_1-1]",
  "line-7 custom:",
];

describe("a session of crabtalk", () => {
  test("has its header's fields, without obsolete ones", async () => {
    const { sessions } = await readWith(CRABTALK, FILE, { path: PATH });
    expect(sessions[0]?.session).toMatchObject({
      id: "crab_ana_1",
      title: "Cron refactor",
      startedAt: Date.UTC(2026, 3, 1, 10),
      source: "crabtalk",
      agent: "crab",
      createdBy: "ana",
      metadata: { source: { fields: { agent: "crab", created_by: "ana", message_count: 4 } } },
    });
    expect(JSON.stringify(sessions[0]?.session.metadata)).not.toMatch(/topic|uptime/);
  });

  test("has messages, calls with their results, and markers", async () => {
    const { sessions, problems } = await readWith(CRABTALK, FILE, { path: PATH });
    const entries = sessions[0]?.entries ?? [];
    expect(outline(entries)).toEqual(EXPECTED);
    expect(entries.map(({ actor }) => actor)).toEqual(["ana", "crab", "bash", "crab", null, null]);
    expect(entries[1]?.blocks[1]).toMatchObject({ input: '{"command": "crontab -l"}' });
    expect(entries[2]?.blocks).toMatchObject([{ toolUseId: "call_1", output: "* * * * *" }]);
    expect(problems).toMatchObject([{ line: 7, code: "unexpected", message: /weather/ }]);
  });

  test("is the same when it is read line by line", async () => {
    expect(outline(await readInSteps(CRABTALK, FILE, { path: PATH }))).toEqual(EXPECTED);
  });

  test("in a folder has a file per step", async () => {
    const [meta = "", ...steps] = FILE.trim().split("\n");
    const files = Object.fromEntries(
      steps.map((step, i) => [`step-${String(i + 1).padStart(6, "0")}`, step]),
    );
    const { sessions } = await readWith(CRABTALK, meta, { path: "/s/crab_ana_1/meta", files });
    expect(sessions[0]?.session.id).toBe("crab_ana_1");
    expect(outline(sessions[0]?.entries ?? [])).toEqual(EXPECTED);
  });

  test("without its header is read, and reported", async () => {
    const { sessions, problems } = await readWith(
      CRABTALK,
      FILE.split("\n").slice(1, 3).join("\n"),
    );
    expect(sessions[0]?.entries).toHaveLength(2);
    expect(problems).toMatchObject([{ line: 1, code: "missing_header" }]);
  });
});
