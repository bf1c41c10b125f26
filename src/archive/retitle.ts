/** Regenerates the derived titles of stored sessions. */

import type { TenantApi } from "../engine/interfaces.ts";
import { textOf } from "../model/block.ts";
import type { Entry } from "../model/entry.ts";
import { checkFields, checkMethods } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import { MAX_PAGE } from "../model/limits.ts";
import type { Session } from "../model/session.ts";
import { isInjected, withoutInjected } from "../search/document/injected.ts";
import { TitleMaker } from "../transcript/title/title-maker.ts";
import {
  FROM_REQUEST,
  isMadeTitle,
  isPlaceholderTitle,
  TITLE_FROM_KEY,
} from "../transcript/title/title-text.ts";

export interface Retitled {
  readonly session: Session;
  readonly title: string;
}

export interface RetitleInput {
  /** A dry run: reports the changes only. */
  readonly dryRun?: boolean;
  readonly onTitle?: (change: Retitled) => void;
}

export interface RetitleReport {
  /** Sessions with a derived title or none. */
  readonly looked: number;
  readonly changed: number;
}

/** A subject named later is not the session's. */
const MESSAGES = 200;
const PAGE = 50;

/** Titles set by a user, a program or an agent stay. */
export async function retitleSessions(
  tenant: TenantApi,
  input: RetitleInput = {},
): Promise<RetitleReport> {
  const { dryRun = false, onTitle } = checkFields(input, "options", INPUTS.retitleSessions);
  checkMethods(tenant, "tenant", ["listSessions"]);
  let [looked, changed] = [0, 0];
  let cursor: string | undefined;
  do {
    const page = await tenant.listSessions({
      machineMade: true,
      limit: MAX_PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const session of page.sessions.filter(isReplaceable)) {
      looked++;
      const title = (await makeTitle(tenant, session.id)) ?? "";
      if (title === session.title) continue;
      changed++;
      if (!dryRun) {
        const handle = tenant.session(session.id);
        await handle.update({ title, metadata: { [TITLE_FROM_KEY]: FROM_REQUEST } });
      }
      onTitle?.({ session, title });
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return { looked, changed };
}

function isReplaceable(session: Session): boolean {
  if (session.title === "" || isMadeTitle(session)) return true;
  return session.origin.source !== undefined && isPlaceholderTitle(session.title);
}

async function makeTitle(tenant: TenantApi, sessionId: string): Promise<string | undefined> {
  const titles = new TitleMaker();
  for (let offset = 0; offset < MESSAGES && !titles.isDone; offset += PAGE) {
    const page = { offset, limit: PAGE, preview: true };
    const { messages, total } = await tenant.listMessages(sessionId, page);
    for (const message of messages) {
      if (titles.isDone) break;
      await addMessage(tenant, titles, message);
    }
    if (offset + PAGE >= total) break;
  }
  return titles.made()?.title;
}

/** A preview has only the head, so a request is read whole. */
async function addMessage(tenant: TenantApi, titles: TitleMaker, message: Entry): Promise<void> {
  if (isInjected(message.metadata)) return;
  if (message.role === "assistant") titles.addAnswer(textOf(message.blocks));
  if (message.role !== "user") return;
  const { blocks } = message.truncated ? await tenant.getEntry(message.id) : message;
  const request = withoutInjected(textOf(blocks)).trim();
  if (request !== "") titles.addRequest(request);
}
