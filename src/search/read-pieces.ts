/** Reads the pieces to embed of a range of the feed, with secrets masked. */

import { memoryKey } from "../model/note.ts";
import { redact } from "../secrets/redact.ts";
import { indexableText, roleClassOf } from "./document/indexable-text.ts";
import { cutPieces, cutText, type Said } from "./document/pieces.ts";
import { decidingMetadata } from "./index/add-feed.ts";
import { ROLES } from "./index/layout.ts";
import { ask, type FeedEntry, type FeedSlice, type SansIo } from "./port.ts";
import type { PiecesAnswer, PiecesRequest, TextPiece } from "./request.ts";
import { MAX_SPAN, NOTE_ROLES } from "./vectors/vector-layout.ts";
import type { PieceInfo } from "./vectors/vector-port.ts";

/** Feed rows per read. */
const SLICE = 512;

/** Reads until there are `enough` pieces, or the feed's end or `to` is reached. */
export function* readPieces({ after, to, enough }: PiecesRequest): SansIo<PiecesAnswer> {
  const manifest = yield* ask<"manifest">({ need: "manifest" });
  const pieces: TextPiece[] = [];
  let through = after;
  let head = after;
  do {
    const limit = Math.min(SLICE, (to ?? Number.POSITIVE_INFINITY) - through);
    if (limit <= 0) break;
    const slice = yield* ask<"feed">({ need: "feed", after: through, limit, whole: ["text"] });
    head = slice.head;
    if (slice.through <= through) break;
    through = slice.through;
    pieces.push(...talkOf(slice.entries), ...notesOf(slice));
  } while (pieces.length < enough && through < head);
  const { vectors } = manifest;
  return { pieces, through, head, unreadable: [], ...(vectors === undefined ? {} : { vectors }) };
}

interface SaidEntry extends Said {
  readonly role: number;
  readonly time: number;
}

function talkOf(entries: readonly FeedEntry[]): TextPiece[] {
  const said = entries.flatMap((entry): SaidEntry[] => {
    const { kind, role, status, session, sequence, chain, depth, createdAt: time } = entry;
    const roleClass = roleClassOf(entry);
    const blocks = entry.blocks.filter(({ type }) => type === "text");
    if (blocks.length === 0 || roleClass === "system") return [];
    const metadata = decidingMetadata(entry.metadata);
    const { parts } = indexableText({ kind, role, status, blocks, metadata }, { tools: "names" });
    const text = parts.join("\n");
    if (text === "") return [];
    const place = { session, sequence, chain, depth, time, role: ROLES.indexOf(roleClass) };
    return [{ ...place, isUser: role === "user", text }];
  });
  return cutPieces(said).map(({ first, last, text }) => {
    const { session, sequence, role, time } = first;
    const end = Math.min(last.sequence, sequence + MAX_SPAN);
    return { info: { session, sequence, last: end, role, time, key: null }, text };
  });
}

/** Their current state: deleted and superseded ones have no text. */
function notesOf({ memories, facts }: FeedSlice): TextPiece[] {
  const pieces: TextPiece[] = [];
  const add = (info: Pick<PieceInfo, "session" | "role" | "key">, text: string) => {
    for (const part of cutText(redact(text).text).slice(0, 1)) {
      pieces.push({ info: { ...info, sequence: 0, last: 0, time: 0 }, text: part });
    }
  };
  for (const { agent, name, content } of memories) {
    const info = { session: 0, role: NOTE_ROLES.memory, key: memoryKey(agent, name) };
    if (content !== null) add(info, `${name}\n${content}`);
  }
  for (const { id, session, text } of facts) {
    const info = { session: session ?? 0, role: NOTE_ROLES.fact, key: id };
    if (text !== null) add(info, text);
  }
  return pieces;
}
