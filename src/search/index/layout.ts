/**
 * The layout of a segment.
 *
 * A segment holds four sets of documents: messages; sessions, by their title, their summary and
 * facts such as date, agent and project; memories; and facts. Each field has its own dictionary and
 * postings; a message has two fields with separate lengths: its text and its tool outputs. Messages
 * are numbered in the order of (session, sequence), so that the neighbours of a message are its
 * neighbours here, and a session is one range. Stored columns are immutable.
 */

export const FORMAT = 5;

/** The address of a record in a segment: blob, offset, length. */
export type Address = readonly [blob: number, offset: number, length: number];

/** The fields of messages: text with tool inputs, and tool outputs. */
export const MESSAGE_FIELDS = ["message", "output"] as const;
export type MessageField = (typeof MESSAGE_FIELDS)[number];

/** The fields whose documents are sessions. */
export const SESSION_FIELDS = ["title", "summary", "about"] as const;
export type SessionField = (typeof SESSION_FIELDS)[number];

/** The fields whose documents are notes. */
export const NOTE_FIELDS = ["memory", "fact"] as const;
export type NoteField = (typeof NOTE_FIELDS)[number];

/** The fields of documents other than messages. */
export const KEYED_FIELDS = ["title", "summary", "about", "memory", "fact"] as const;
export type KeyedField = (typeof KEYED_FIELDS)[number];

export const FIELDS = ["message", "output", "title", "summary", "about", "memory", "fact"] as const;
export type Field = (typeof FIELDS)[number];

/** In a chunk of this many documents a posting is a 16-bit number. */
export const CHUNK_DOCUMENTS = 65_536;
/** The unit of pruning: a list has upper bounds (block-max) for each window. */
export const WINDOW_DOCUMENTS = 4_096;
export const CHUNK_WINDOWS: number = CHUNK_DOCUMENTS / WINDOW_DOCUMENTS;
/** A term with fewer postings is stored compactly, and read as a whole. */
export const LONG_LIST = 512;
/** A long list has bounds for each window if it has this many postings in a chunk. */
export const WINDOWED_LIST = 1_024;
/** Terms in a block of the dictionary. */
export const DICTIONARY_BLOCK = 64;
/** Messages per block of facts that only hits need: a block is decoded for one of them. */
export const FACTS_BLOCK = 128;
/** Postings between two entry points into the positions of a long list. */
export const POSITIONS_STRIDE = 128;
/**
 * Below this many messages, and words in them, all records of a segment share one blob. A merge
 * reads segments sequentially: it would read larger shared blobs repeatedly.
 */
export const SMALL_SEGMENT = 1_024;
export const SMALL_SEGMENT_WORDS: number = 128 * 1024;
/**
 * The blob size. A term outside the cache costs a blob. With a cache of a third of the index,
 * queries take a quarter less time with 16 KB than with 64; 8 KB gain nothing more.
 */
export const BLOB_BYTES: number = 16 * 1024;

/** The cap of a term's count, in ranking and index. */
export const MAX_TERM_COUNT = 255;
export const MAX_LENGTH = 65_535;

/** Roles, for weights and filters. `acting`: an assistant's message with text and a tool call. */
export const ROLES = ["user", "tool", "assistant", "system", "acting"] as const;
export type RoleClass = (typeof ROLES)[number];

export interface FieldHeader {
  /** Documents with at least one word in this field. */
  readonly documents: number;
  readonly totalLength: number;
  /** The first term of each block and its address. */
  readonly dictionary: Address;
  /** A 16-bit length per document. Messages have theirs in `chunks`, for both fields. */
  readonly lengths?: Address;
}

export interface SegmentHeader {
  readonly format: number;
  /** Messages. */
  readonly documents: number;
  /** Numbers of the sessions that have messages here, and where each begins. */
  readonly messageSessions: Address;
  /** For each chunk: roles, lengths and sessions of its messages. */
  readonly chunks: readonly Address[];
  /** For each block of messages: sequence, chain, depth and time. */
  readonly facts: Address;
  /** Numbers of the sessions that are documents themselves. */
  readonly sessions: Address;
  readonly sessionCount: number;
  readonly memories: Address;
  readonly factIds: Address;
  /** The session of each fact, which is deleted with it. */
  readonly factSessions: Address;
  readonly fields: Readonly<Record<Field, FieldHeader>>;
}
