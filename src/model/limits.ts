/**
 * Every number that bounds an input or an answer, in one place.
 *
 * They are limits of the product, not of a backend: both answer alike. A caller who meets one gets
 * `too_large` with the field, the limit and the actual size.
 */

/** A message's JSON, UTF-8. Larger things (a video, a core dump) belong in a file that it names. */
export const MAX_CONTENT_BYTES: number = 8 * 1024 * 1024;

/** Blocks in one message. Real transcripts stay under a hundred. */
export const MAX_BLOCKS = 2_000;

/** How deeply JSON that callers hand in may nest. */
export const MAX_JSON_DEPTH = 200;

/** Entries in one atomic append, and the bytes of their content together. */
export const MAX_BATCH_ENTRIES = 1_000;
export const MAX_BATCH_BYTES: number = 64 * 1024 * 1024;

/** A page of messages, entries, sessions, memories, facts or changes. */
export const MAX_PAGE = 500;
export const DEFAULT_PAGE = 50;

/** A session's, entry's or memory's metadata as JSON, UTF-8. */
export const MAX_METADATA_BYTES: number = 64 * 1024;

/** Ids that a caller may choose: session ids, actor, agent, owner and tenant names. */
export const MAX_ID_LENGTH = 128;
export const MAX_NAME_BYTES = 512;
export const MAX_TITLE_BYTES = 1_024;
export const MAX_SUMMARY_BYTES: number = 256 * 1024;
/** What somebody wants of a summary: a few sentences. */
export const MAX_INSTRUCTIONS_BYTES: number = 4 * 1024;
export const MAX_PATH_BYTES = 4_096;
export const MAX_PARTICIPANTS = 1_000;

/** A memory is a note that is always returned whole. */
export const MAX_MEMORY_BYTES: number = 8 * 1024;

/** Subject, predicate or object of a fact. */
export const MAX_FACT_BYTES: number = 4 * 1024;

/** A session key: an agent, a channel, an account and a peer, each as long as a name may get. */
export const MAX_SESSION_KEY_BYTES = 2_048;

/** Names that one access token may write for; more than a few callers want `any`. */
export const MAX_ACT_AS = 100;

/** How long an idempotency key is remembered. */
export const IDEMPOTENCY_KEPT_MS: number = 7 * 24 * 60 * 60 * 1000;

/** A search: what it may ask, and what it may answer. */
export const MAX_QUERY_BYTES: number = 16 * 1024;
export const MAX_HITS = 20;
export const DEFAULT_HITS = 10;
/** Messages in the window round a hit, the hit included. */
export const MAX_WINDOW = 16;
export const DEFAULT_CONTEXT = 4;
export const SEARCH_DEADLINE_MS = 500;

/** The body of a request to the server, unpacked; and that of a file to be imported. */
export const MAX_REQUEST_BYTES: number = 64 * 1024 * 1024 + 1024 * 1024;
export const MAX_IMPORT_BYTES: number = 512 * 1024 * 1024;

/**
 * The whole answer of an MCP tool as JSON, UTF-8: the text, and the same as data. Agents cut off or
 * refuse answers of more than some 25,000 tokens, and read one of the two.
 */
export const MAX_MCP_ANSWER_BYTES: number = 128 * 1024;
/** What an MCP tool shows of one message. */
export const MAX_MCP_MESSAGE_BYTES: number = 32 * 1024;
export const DEFAULT_MCP_MESSAGE_BYTES: number = 2 * 1024;
/** A context that an MCP tool builds: what fits into an answer twice. */
export const MAX_MCP_CONTEXT_TOKENS = 10_000;
export const DEFAULT_MCP_CONTEXT_TOKENS = 4_000;
/** A page of sessions that an MCP tool lists, and of messages. */
export const MAX_MCP_PAGE = 100;
export const DEFAULT_MCP_PAGE = 20;
/** A request to the MCP endpoint. */
export const MAX_MCP_REQUEST_BYTES: number = 10 * 1024 * 1024;
