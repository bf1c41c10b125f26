import { describe, expect, test } from "vitest";
import { outline, readWith } from "../../../test/support/reading.ts";
import { fixture } from "../../../test/support/transcripts.ts";
import { OPENCLAW } from "./openclaw.ts";

const FILE = fixture("openclaw/a1-topic-7.jsonl");
const FOLDER = "/home/ana/.openclaw/agents/main/sessions";

async function read(path: string, list?: object) {
  const files = list === undefined ? {} : { files: { "sessions.json": JSON.stringify(list) } };
  const { sessions, problems } = await readWith(OPENCLAW, FILE, { path, ...files });
  return { session: sessions[0]?.session, entries: sessions[0]?.entries ?? [], problems };
}

describe("a session of openclaw", () => {
  test("is read like pi's, with its answers by the agent", async () => {
    const { session, entries, problems } = await read(`${FOLDER}/a1.jsonl`);
    expect(session).toMatchObject({ source: "openclaw", agent: "openclaw", id: "a1" });
    expect(outline(entries)).toEqual([
      "00000001<null user: Remind me at six.",
      "00000002<00000001 assistant: I will.",
    ]);
    expect(entries[1]).toMatchObject({ actor: "main", model: "large-4" });
    expect(problems).toEqual([]);
  });

  test("of a topic has its own id", async () => {
    const { session } = await read(`${FOLDER}/a1-topic-7.jsonl`);
    expect(session?.id).toBe("a1-topic-7");
  });

  test("gets its title, key and parent from the list beside it", async () => {
    const { session } = await read(`${FOLDER}/a1.jsonl`, {
      "agent:main:main": { sessionId: "a0" },
      "agent:main:telegram:group:9": {
        sessionId: "a1",
        displayName: "Family",
        channel: "telegram",
        spawnedBy: "agent:main:main",
      },
    });
    expect(session).toMatchObject({
      title: "Family",
      parentSession: "a0",
      metadata: {
        source: { format: "pi", id: "a1" },
        gateway: { agent: "main", key: "agent:main:telegram:group:9", channel: "telegram" },
      },
    });
  });

  test("is found by its file if the list names one, and without a list by its id", async () => {
    const list = { k: { sessionId: "x", sessionFile: "/old/a1-topic-7.jsonl", label: "Topic" } };
    expect((await read(`${FOLDER}/a1-topic-7.jsonl`, list)).session?.title).toBe("Topic");
    const broken = await readWith(OPENCLAW, FILE, {
      path: `${FOLDER}/a1.jsonl`,
      files: { "sessions.json": "{broken" },
    });
    expect(broken.sessions[0]?.session.title).toBeNull();
  });

  test("lies with its agent, also when it was archived", () => {
    const environment = { home: "/home/ana", variables: {}, platform: "linux" };
    const [place] = OPENCLAW.places?.(environment) ?? [];
    expect(place?.root).toBe("/home/ana/.openclaw/agents");
    expect(place?.matches("main/sessions/a1.jsonl")).toBe(true);
    expect(place?.matches("main/sessions/a1.jsonl.deleted.2026-03-01")).toBe(true);
    expect(place?.matches("main/sessions/a1.jsonl.deleted.2026-03-01.zst")).toBe(true);
    expect(place?.matches("main/sessions/sessions.json")).toBe(false);
    expect(OPENCLAW.recognise(Buffer.from(FILE), `${FOLDER}/a1.jsonl`)).toBe(true);
    expect(OPENCLAW.recognise(Buffer.from(FILE), "/elsewhere/a1.jsonl")).toBe(false);
  });
});
