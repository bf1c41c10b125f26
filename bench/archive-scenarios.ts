/** The contents of a store after a folder was ingested. Runs in its own process. */

import type { Entry } from "../src/model/entry.ts";
import type { IngestTask } from "./ingest-scenarios.ts";
import { open } from "./library.ts";
import type { Figures } from "./measure.ts";

type Engine = Awaited<ReturnType<typeof open>>;

const PAGE = 500;

interface Seen {
  sessions: number;
  emptySessions: number;
  machineMadeSessions: number;
  sessionsWithMessagesOffPath: number;
  messagesOnPath: number;
  messagesOffPath: number;
  /** Sub-agents inside a session's file, which are not abandoned branches. */
  sidechainMessages: number;
  userTextsOffPath: number;
  assistantTextsOffPath: number;
}

export async function inspectArchive({ address }: IngestTask): Promise<Figures> {
  await using engine = await open(address, { durability: "process" });
  const titles = new Map<string, number>();
  const seen: Seen = {
    sessions: 0,
    emptySessions: 0,
    machineMadeSessions: 0,
    sessionsWithMessagesOffPath: 0,
    messagesOnPath: 0,
    messagesOffPath: 0,
    sidechainMessages: 0,
    userTextsOffPath: 0,
    assistantTextsOffPath: 0,
  };
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; ) {
    isFirst = false;
    const page = await engine.listSessions({
      machineMade: true,
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const { id, title, metadata } of page.sessions) {
      seen.sessions++;
      if (metadata["machineMade"] === true) seen.machineMadeSessions++;
      titles.set(title.trim(), (titles.get(title.trim()) ?? 0) + 1);
      await inspectSession(engine.session(id), seen);
    }
    cursor = page.nextCursor;
  }
  const titlesThatSayNothing = [...titles].reduce(
    (sum, [title, count]) => (count > 1 || saysNothing(title) ? sum + count : sum),
    0,
  );
  const titlesThatSayNothingPercent = (100 * titlesThatSayNothing) / Math.max(1, seen.sessions);
  const originalBytes = await sizeOfOriginals(engine);
  return { ...seen, titlesThatSayNothing, titlesThatSayNothingPercent, originalBytes };
}

/** As they are stored. */
async function sizeOfOriginals({ originals }: Engine): Promise<number> {
  let bytes = 0;
  for (let page = await originals.list({ limit: PAGE }); page.length > 0; ) {
    for (const { workstation, path, parts } of page) {
      for (const { start } of parts) {
        bytes += (await originals.readPart(workstation, path, start))?.length ?? 0;
      }
    }
    const after = page.at(-1);
    page = await originals.list({ limit: PAGE, ...(after === undefined ? {} : { after }) });
  }
  return bytes;
}

async function inspectSession(session: ReturnType<Engine["session"]>, seen: Seen): Promise<void> {
  const path = new Set<string>();
  for await (const { id } of entriesOf(session, false)) path.add(id);
  let messages = 0;
  let aside = 0;
  for await (const entry of entriesOf(session, true)) {
    if (entry.kind !== "message") continue;
    messages++;
    if (path.has(entry.id)) seen.messagesOnPath++;
    else if (entry.metadata["sidechain"] === true) seen.sidechainMessages++;
    else {
      aside++;
      if (entry.role === "user" && hasText(entry)) seen.userTextsOffPath++;
      if (entry.role === "assistant" && hasText(entry)) seen.assistantTextsOffPath++;
    }
  }
  seen.messagesOffPath += aside;
  if (aside > 0) seen.sessionsWithMessagesOffPath++;
  if (messages === 0) seen.emptySessions++;
}

async function* entriesOf(
  session: ReturnType<Engine["session"]>,
  tree: boolean,
): AsyncGenerator<Entry> {
  let after: string | undefined;
  do {
    const page = await session.listEntries({
      tree,
      limit: PAGE,
      preview: true,
      ...(after === undefined ? {} : { after }),
    });
    yield* page.entries;
    after = page.next;
  } while (after !== undefined);
}

function hasText({ blocks, metadata }: Entry): boolean {
  if (metadata["injected"] === true) return false;
  return blocks.some((block) => block.type === "text" && block.text.trim() !== "");
}

/** A bare slash command, or a template's preamble. */
function saysNothing(title: string): boolean {
  return (
    title === "" ||
    /^\/[\w:-]+$/.test(title) ||
    /^\[\[ ## /.test(title) ||
    /^<[\w-]+>/.test(title) ||
    /^Implement the following plan:?$/i.test(title)
  );
}
