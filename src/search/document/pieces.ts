/**
 * Chunking for embeddings: runs of messages, cut into pieces.
 *
 * A run is one side's text between two messages of the other. Agents write a sentence, call a tool,
 * and write the next one: each alone means little, and each would cost a vector. Tool traffic gets
 * none. Measurements in docs/decisions.
 */

/** A piece has about 200 tokens: sentence models read at most 256. */
const PIECE_CHARACTERS = 800;
/** After this many characters, a piece ends at the end of a sentence or a line. */
const LEAST_CHARACTERS = 400;
/** Pieces per message; the rest of a longer one is found by words alone. */
const MAX_PIECES = 16;

/** The text of one message. */
export interface Said {
  readonly session: number;
  readonly sequence: number;
  readonly chain: number;
  readonly depth: number;
  /** `user` is one side, all others are the other. */
  readonly isUser: boolean;
  readonly text: string;
}

/** The text of a piece, its first message, and its last one. */
export interface TalkPiece<Message extends Said> {
  readonly first: Message;
  readonly last: Message;
  readonly text: string;
}

/** `said` are messages in feed order; sessions may be mixed. */
export function cutPieces<Message extends Said>(said: readonly Message[]): TalkPiece<Message>[] {
  const pieces: TalkPiece<Message>[] = [];
  for (const messages of Map.groupBy(said, ({ session }) => session).values()) {
    for (const run of runsOf(messages)) pieces.push(...piecesOf(run));
  }
  return pieces;
}

/** Consecutive messages of one side on one branch, ignoring tools between them. */
function runsOf<Message extends Said>(messages: readonly Message[]): Message[][] {
  const runs: Message[][] = [];
  for (const message of messages) {
    const last = runs.at(-1)?.at(-1);
    const goesOn =
      last !== undefined && last.isUser === message.isUser && last.chain === message.chain;
    if (goesOn) runs.at(-1)?.push(message);
    else runs.push([message]);
  }
  return runs;
}

function piecesOf<Message extends Said>(run: readonly Message[]): TalkPiece<Message>[] {
  const pieces: TalkPiece<Message>[] = [];
  let open: { first: Message; last: Message; text: string } | undefined;
  for (const message of run) {
    for (const text of cutText(message.text)) {
      if (open !== undefined && open.text.length + text.length < PIECE_CHARACTERS) {
        open = { ...open, last: message, text: `${open.text}\n${text}` };
        continue;
      }
      if (open !== undefined) pieces.push(open);
      open = { first: message, last: message, text };
    }
  }
  if (open !== undefined) pieces.push(open);
  return pieces;
}

/** Parts of at most `PIECE_CHARACTERS`, cut at natural boundaries. */
export function cutText(text: string): string[] {
  const parts: string[] = [];
  let rest = text.trim();
  while (rest !== "" && parts.length < MAX_PIECES) {
    const end = rest.length <= PIECE_CHARACTERS ? rest.length : endOf(rest);
    parts.push(rest.slice(0, end).trim());
    rest = rest.slice(end).trim();
  }
  return parts;
}

/** The last best boundary within a piece's limit: of a paragraph, a line, a sentence, a word. */
function endOf(text: string): number {
  const head = text.slice(0, PIECE_CHARACTERS);
  for (const end of ["\n\n", "\n", ". ", "? ", "! ", "。", " "]) {
    const at = head.lastIndexOf(end);
    if (at >= LEAST_CHARACTERS) return at + end.length;
  }
  // Never inside a surrogate pair.
  const isSplit = /[\uD800-\uDBFF]$/.test(head);
  return isSplit ? PIECE_CHARACTERS - 1 : PIECE_CHARACTERS;
}
