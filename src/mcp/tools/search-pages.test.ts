import { expect, test } from "vitest";
import { open } from "../../open.ts";
import type { McpHost } from "../host.ts";
import { searchSessions } from "./search-sessions.ts";

test("a search goes on to its last page, past hits that a short answer leaves out", async () => {
  await using memory = await open(":memory:");
  for (let i = 0; i < 100; i++) {
    const session = await memory.createSession({ title: `Cron of ${i}` });
    await session.append({ role: "user", content: `why does the cron job of host${i} run twice?` });
    await session.append({ role: "assistant", content: `the lock of host${i} is gone, so cron` });
  }
  const access = { tenant: "default", scope: "read", actor: null, actAs: [] } as const;
  const host: McpHost = {
    tenant: memory,
    access: { ...access, operator: false, tokenId: null },
    version: "0.0.0",
  };
  const ask = async (args: object) => {
    const { isError, content } = await searchSessions.call(host, { query: "cron lock", ...args });
    const [{ text = "" } = {}] = content as { text?: string }[];
    expect(isError, text).not.toBe(true);
    return text;
  };
  const seen = new Set<string>();
  let cursor: string | undefined;
  let pages = 0;
  do {
    const text = await ask({ limit: 20, max_tokens: 16_000, ...(cursor && { cursor }) });
    for (const [host] of text.matchAll(/\bhost\d+\b/g)) seen.add(host);
    cursor = /More: cursor (\S+)/.exec(text)?.[1];
    pages++;
  } while (cursor !== undefined);
  expect([seen.size, pages]).toEqual([100, 5]);

  const cut = await ask({ limit: 20, max_tokens: 400 });
  expect(cut).not.toContain("More: cursor");
  const [, fits = ""] = /more hits do not fit into max_tokens: limit (\d+) gives/.exec(cut) ?? [];
  expect(await ask({ limit: Number(fits), max_tokens: 400 })).toContain("More: cursor");
});
