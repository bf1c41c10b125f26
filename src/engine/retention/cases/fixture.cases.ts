/** Fixture of the retention cases. */

import { textOf } from "../../../model/block.ts";
import type { Usage } from "../../../model/entry.ts";
import type { Retention } from "../../../model/session.ts";
import type { CompactionResult } from "../../compaction/compact.ts";
import { saying } from "../../context/cases/fixture.cases.ts";
import type { Engine } from "../../engine.ts";
import type { SessionHandle } from "../../session-handle.ts";
import type { TenantEngine } from "../../tenant-engine.ts";

export interface RetentionCases {
  engine(): Engine;
  /** A tenant that no other case uses. */
  tenant(): TenantEngine;
}

export const USAGE: Usage = {
  inputTokens: 3,
  outputTokens: 4,
  cacheCreationTokens: 0,
  cacheReadTokens: 0,
};

/** Makes a message longer than its part of a summary: a compaction never enlarges a context. */
const REST = " and so on".repeat(60);

/** A session with a message for each of `words`, by user and agent in turn. */
export async function say(
  tenant: TenantEngine,
  retention: Retention,
  ...words: readonly string[]
): Promise<{ handle: SessionHandle; ids: string[] }> {
  const handle = await tenant.createSession({ agent: "coder", createdBy: "ana", retention });
  return { handle, ids: await sayMore(handle, ...words) };
}

export async function sayMore(
  handle: SessionHandle,
  ...words: readonly string[]
): Promise<string[]> {
  const ids: string[] = [];
  for (const [i, word] of words.entries()) {
    const isUser = i % 2 === 0;
    const entry = await handle.append({
      ...(isUser
        ? { role: "user", actor: "ana" }
        : { role: "assistant", actor: "coder", usage: USAGE }),
      content: `about ${word}${REST}`,
      metadata: { channel: "web" },
    });
    ids.push(entry.id);
  }
  return ids;
}

export function compact(handle: SessionHandle, keep: number): Promise<CompactionResult> {
  return handle.compact({ keep: { messages: keep }, summarizer: saying("They spoke of animals.") });
}

/** The texts of all messages, of all branches; null for erased ones. */
export async function said(handle: SessionHandle): Promise<(string | null)[]> {
  const { entries } = await handle.listEntries({ tree: true, limit: 500 });
  return entries
    .filter(({ kind }) => kind === "message")
    .map(({ blocks, erased }) =>
      erased ? null : textOf(blocks).replace("about ", "").replace(REST, ""),
    );
}
