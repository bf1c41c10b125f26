/** Fixture of the search cases: a tenant per case, and short calls. */

import { expect } from "vitest";
import type { SearchHit } from "../../search/request.ts";
import type { MessageInput } from "../message-input.ts";
import type { SearchInput } from "../search.ts";
import type { SessionHandle } from "../session-handle.ts";
import type { CreateSessionInput } from "../session-input.ts";
import type { TenantEngine } from "../tenant-engine.ts";

export interface SearchCases {
  /** A tenant that no other case uses. */
  tenant(): TenantEngine;
  /** Moves the written messages to the part of the index under test: the tail or segments. */
  settle(tenant: TenantEngine): Promise<void>;
}

/** Concatenated, so that secret scanners ignore this file. */
export const SECRET: string = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF"}`;

/** A session with these messages; a plain text is the user's. */
export async function talk(
  tenant: TenantEngine,
  messages: readonly (string | MessageInput)[],
  session: Partial<CreateSessionInput> = {},
): Promise<SessionHandle> {
  const handle = await tenant.createSession({ agent: "coder", createdBy: "ana", ...session });
  const all = messages.map((message) =>
    typeof message === "string"
      ? { role: "user" as const, actor: "ana", content: message }
      : message,
  );
  if (all.length > 0) await handle.append(all);
  return handle;
}

export async function hitsOf(
  tenant: TenantEngine,
  query: string,
  input: SearchInput = {},
): Promise<readonly SearchHit[]> {
  const { hits, indexing, degraded, partial } = await tenant.searchSessions(query, input);
  expect({ indexing, degraded, partial }).toEqual({
    indexing: false,
    degraded: false,
    partial: false,
  });
  return hits;
}

/** The found sessions, best first. */
export async function sessionsOf(
  tenant: TenantEngine,
  query: string,
  input: SearchInput = {},
): Promise<string[]> {
  return (await hitsOf(tenant, query, input)).map(({ sessionId }) => sessionId);
}

/** The snippets of the hits. */
export async function snippetsOf(
  tenant: TenantEngine,
  query: string,
  input: SearchInput = {},
): Promise<string[]> {
  const hits = await hitsOf(tenant, query, { perSession: 20, limit: 20, ...input });
  return hits.map(({ window }) => window.find(({ found }) => found)?.snippet ?? "");
}

/** The marked parts of the found message's text. */
export function marksOf(hit: SearchHit | undefined): string[] {
  const item = hit?.window.find(({ found }) => found);
  return (item?.matches ?? []).map(({ start, end }) => item?.snippet.slice(start, end) ?? "");
}
