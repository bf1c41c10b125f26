import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { open } from "../open.ts";
import { ingestStream } from "./ingest.ts";
import { createSetting } from "./ingest-setting.ts";

const environment = { home: "/", variables: { WORKSTATION_ID: "w1" }, platform: "linux" };

const chat = (id: string) => ({
  uuid: id,
  name: id,
  created_at: "2026-05-04T10:00:00Z",
  account: {},
  chat_messages: [{ uuid: `m${id}`, sender: "human", text: id, content: [] }],
});
const EXPORT = JSON.stringify([chat("one"), chat("two")]);

async function* pieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < bytes.length; i += length) yield bytes.subarray(i, i + length);
}

test.each([
  ["plain", Buffer.from(EXPORT)],
  ["gzip", gzipSync(EXPORT)],
  ["UTF-16", Buffer.from(`\uFEFF${EXPORT}`, "utf16le")],
  ["UTF-16 in gzip", gzipSync(Buffer.from(`\uFEFF${EXPORT}`, "utf16le"))],
])("a pipe may carry %s, in chunks of any length", async (_, bytes) => {
  for (const length of [1, 7, 100_000]) {
    await using engine = await open(":memory:");
    const setting = await createSetting(engine, { environment });
    const outcome = await ingestStream(setting, pieces(bytes, length));
    expect(outcome).toMatchObject({ source: "claude-ai", bytes: bytes.length });
    expect(outcome.sessions).toMatchObject([{ entries: 1 }, { entries: 1 }]);
  }
});

test("a truncated compressed pipe gives its complete part, and reports the rest", async () => {
  await using engine = await open(":memory:");
  const setting = await createSetting(engine, { environment });
  const packed = gzipSync(`${EXPORT}${" ".repeat(1_000_000)}`).subarray(0, -8);
  const { sessions, problems } = await ingestStream(setting, pieces(packed, 100));
  expect(sessions).toHaveLength(2);
  expect(problems.map(({ code }) => code)).toEqual(["unreadable"]);
});
