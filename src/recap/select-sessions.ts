/**
 * Selects sessions by filter and text, completely: it ranks nothing, has no limit, and with a text
 * compares everything that is stored of each session, since an index leaves parts out.
 */

import type { SessionApi, TenantApi } from "../engine/interfaces.ts";
import type { ListSessionsInput } from "../engine/sessions/list-sessions.ts";
import type { Block } from "../model/block.ts";
import type { Entry } from "../model/entry.ts";
import { MAX_PAGE } from "../model/limits.ts";
import type { Session } from "../model/session.ts";
import { type RunFinder, runFinder } from "../search/text/text-run.ts";
import { unlessDeleted } from "./found-session.ts";

/** Entries per page: few, because each may be large. */
const ENTRY_PAGE = 50;

export interface SelectOptions {
  /** Only sessions that have it: in any case, also within words, white space as any other. */
  readonly text?: string | undefined;
  /** Called before each session is compared. */
  readonly onProgress?: (compared: number, total: number) => void;
}

/** Newest interaction first, machine-made sessions included. */
export async function selectSessions(
  tenant: TenantApi,
  filter: ListSessionsInput,
  { text, onProgress }: SelectOptions = {},
): Promise<readonly Session[]> {
  const listed = await listAll(tenant, filter);
  if (text === undefined) return listed;
  const find = runFinder({ text, wholeWords: false, ignoreCase: true });
  const found: Session[] = [];
  for (const [i, session] of listed.entries()) {
    onProgress?.(i, listed.length);
    if (await unlessDeleted(() => hasText(tenant.session(session.id), session, find))) {
      found.push(session);
    }
  }
  return found;
}

/** A session that is written to meanwhile moves to the front: it is listed once. */
async function listAll(tenant: TenantApi, filter: ListSessionsInput): Promise<Session[]> {
  const listed = new Map<string, Session>();
  for (let cursor: string | undefined; ; ) {
    const page = await tenant.listSessions({
      ...filter,
      machineMade: true,
      limit: MAX_PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const session of page.sessions) listed.set(session.id, session);
    cursor = page.nextCursor;
    if (cursor === undefined) return [...listed.values()];
  }
}

async function hasText(handle: SessionApi, session: Session, find: RunFinder): Promise<boolean> {
  const { title, summary, owner, participants, origin, metadata } = session;
  if (isIn([title, summary, owner, participants, Object.values(origin), metadata], find))
    return true;
  for (let after: string | undefined; ; ) {
    const input = { tree: true, limit: ENTRY_PAGE, ...(after === undefined ? {} : { after }) };
    const page = await handle.listEntries(input);
    if (page.entries.some((entry) => isIn(textsOf(entry), find))) return true;
    after = page.next;
    if (after === undefined) break;
  }
  for (let after: string | undefined; ; ) {
    const input = { limit: MAX_PAGE, superseded: true, ...(after === undefined ? {} : { after }) };
    const facts = await handle.listFacts(input);
    if (
      isIn(
        facts.map(({ subject, predicate, object }) => [subject, predicate, object]),
        find,
      )
    ) {
      return true;
    }
    after = facts.at(-1)?.id;
    if (facts.length < MAX_PAGE) return false;
  }
}

function textsOf({ blocks, data, raw, metadata, actor, model }: Entry): unknown[] {
  return [actor, model, ...blocks.map(textsOfBlock), data, raw, metadata];
}

/** Neither the names of types nor bytes, in which any short text occurs. */
function textsOfBlock(block: Block): unknown {
  switch (block.type) {
    case "text":
    case "thinking":
      return block.text;
    case "tool_use":
      return [block.name, block.input, block.inputText];
    case "tool_result":
      return [
        block.toolName,
        typeof block.output === "string" ? block.output : block.output.map(textsOfBlock),
      ];
    case "image":
      return block.url;
    case "opaque":
      return block.json;
  }
}

/** In a text of the value, or in the name of a field. */
function isIn(value: unknown, find: RunFinder): boolean {
  if (typeof value === "string") return find(value) !== undefined;
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some((part) => isIn(part, find));
  return Object.entries(value).some(([name, part]) => isIn(name, find) || isIn(part, find));
}
