import { expect, test } from "vitest";
import { readWhole } from "../../../test/support/transcripts.ts";
import { textOf } from "../../model/block.ts";

const TIME = Date.UTC(2026, 4, 4, 10);
const EXPORT = {
  info: {
    id: "ses_1",
    projectID: "p1",
    directory: "/srv/shop",
    title: "The cron job",
    version: "1.1.0",
    time: { created: TIME, updated: TIME + 9_000 },
  },
  messages: [
    {
      info: { id: "msg_1", sessionID: "ses_1", role: "user", time: { created: TIME } },
      parts: [{ id: "prt_1", messageID: "msg_1", type: "text", text: "Why twice?" }],
    },
    {
      info: {
        id: "msg_2",
        sessionID: "ses_1",
        role: "assistant",
        modelID: "m-1",
        time: { created: TIME + 1_000 },
        cost: 0.25,
        tokens: { input: 10, output: 5, reasoning: 1, cache: { read: 2, write: 3 } },
      },
      parts: [
        { id: "prt_2", type: "step-start" },
        { id: "prt_3", type: "reasoning", text: "locks" },
        {
          id: "prt_4",
          type: "tool",
          tool: "bash",
          callID: "c1",
          state: { status: "completed", input: { command: "ls" }, output: "cron.lock" },
        },
        { type: "text", text: "The lock is gone." },
      ],
    },
    { parts: [] },
  ],
};

test("exports of opencode are read under any file name and in any layout", async () => {
  for (const path of ["/x/export.json", "/x/ses_1.jsonl", ""]) {
    for (const text of [JSON.stringify(EXPORT, null, 2), JSON.stringify(EXPORT)]) {
      const { source, sessions, problems } = await readWhole(text, { path });
      expect(source).toBe("opencode-export");
      expect(problems.map(({ code }) => code)).toEqual(["unexpected"]);
      expect(sessions).toHaveLength(1);
      const [{ session, entries }] = sessions as [(typeof sessions)[0]];
      expect(session).toMatchObject({
        source: "opencode",
        id: "ses_1",
        title: "The cron job",
        cwd: "/srv/shop",
        startedAt: TIME,
      });
      expect(entries.map(({ sourceId, role, blocks }) => [sourceId, role, textOf(blocks)])).toEqual(
        [
          ["msg_1", "user", "Why twice?"],
          ["msg_2", "assistant", "The lock is gone."],
          ["prt_4", "tool", ""],
        ],
      );
      expect(entries[1]).toMatchObject({ model: "m-1", cost: 0.25, usage: { outputTokens: 6 } });
    }
  }
});
