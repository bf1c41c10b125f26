/**
 * The texts that get vectors: runs of talk, in pieces.
 *
 * A run is what one side says between two messages of the other. Agents say a sentence, call a tool,
 * and say the next one: each alone means little, and each would cost a vector. What tools were given
 * and gave back gets none. docs/decisions has the measurements.
 */

/** A piece has about 200 tokens: models of sentences read no more than 256. */
const PIECE_CHARACTERS = 800;
/** A piece ends at the end of a sentence or of a line behind this many. */
const LEAST_CHARACTERS = 400;
/** Pieces per message; the rest of a longer message is found by its words alone. */
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

/** The text of a piece, the message in which it begins, and the last message that it has words of. */
export interface TalkPiece<Message extends Said> {
  readonly first: Message;
  readonly last: Message;
  readonly text: string;
}

/** `said` are messages in the order of the feed; those of several sessions may be mixed. */
export function cutPieces<Message extends Said>(said: readonly Message[]): TalkPiece<Message>[] {
  const pieces: TalkPiece<Message>[] = [];
  for (const messages of Map.groupBy(said, ({ session }) => session).values()) {
    for (const run of runsOf(messages)) pieces.push(...piecesOf(run));
  }
  return pieces;
}

/** Messages of one side that follow each other on one branch, whatever tools did in between. */
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

/** Parts of at most `PIECE_CHARACTERS`, cut where a reader would. */
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

/** The last of the best ends within the room of a piece: of a paragraph, a line, a sentence, a word. */
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
