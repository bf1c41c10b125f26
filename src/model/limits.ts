/**
 * Every number that bounds an input or an answer.
 *
 * They are the same on both backends. Exceeding one gives `too_large` with the field, the limit and
 * the actual size.
 */

/**
 * A message's JSON in UTF-8. Larger content (a video, a core dump) belongs in a file that it names.
 */
export const MAX_CONTENT_BYTES: number = 8 * 1024 * 1024;

/** Blocks in one message. Real transcripts stay under a hundred. */
export const MAX_BLOCKS = 2_000;

/** The nesting depth of callers' JSON. */
export const MAX_JSON_DEPTH = 200;

/**
 * Entries in one atomic append, and the bytes of their content and metadata together, plus 1 KiB
 * per entry: so a batch of the library also fits into a request to the server.
 */
export const MAX_BATCH_ENTRIES = 1_000;
export const MAX_BATCH_BYTES: number = 16 * 1024 * 1024;

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
/** Instructions for a summary: a few sentences. */
export const MAX_INSTRUCTIONS_BYTES: number = 4 * 1024;
export const MAX_PATH_BYTES = 4_096;
export const MAX_PARTICIPANTS = 1_000;

/** A memory is a note that is always returned whole. */
export const MAX_MEMORY_BYTES: number = 8 * 1024;

/** A record: its namespace, key, value, and search text. */
export const MAX_NAMESPACE_BYTES = 512;
export const MAX_RECORD_KEY_BYTES = 1_024;
export const MAX_RECORD_BYTES: number = 16 * 1024 * 1024;
export const MAX_RECORD_TEXT_BYTES: number = 256 * 1024;
/** Operations in one atomic write of records, and the bytes of their values and texts together. */
export const MAX_RECORD_OPERATIONS = 1_000;
export const MAX_RECORD_BATCH_BYTES: number = 17 * 1024 * 1024;
/** A request that writes records: a batch and the names of its records. */
export const MAX_RECORD_REQUEST_BYTES: number = 20 * 1024 * 1024;

/** Subject, predicate or object of a fact. */
export const MAX_FACT_BYTES: number = 4 * 1024;

/** A session key: an agent, a channel, an account and a peer, each of a name's maximum length. */
export const MAX_SESSION_KEY_BYTES = 2_048;

/** Actors of one access token; beyond a few, use `any`. */
export const MAX_ACT_AS = 100;

/** Entries that one transaction of a deletion deletes: a longer session takes several of them. */
export const MAX_DELETED_ENTRIES = 5_000;

/** How long an idempotency key is remembered. */
export const IDEMPOTENCY_KEPT_MS: number = 7 * 24 * 60 * 60 * 1000;

/** Limits of a search. */
export const MAX_QUERY_BYTES: number = 16 * 1024;
export const MAX_HITS = 20;
export const DEFAULT_HITS = 10;
/** Messages in the window around a hit, the hit included. */
export const MAX_WINDOW = 16;
export const DEFAULT_CONTEXT = 4;
/** Alternatives in one filter of a search, such as excluded sessions. */
export const MAX_FILTER_VALUES = 1_000;
export const SEARCH_DEADLINE_MS = 500;
/** The longest deadline in a request to the server: the search thread is shared. */
export const MAX_SEARCH_DEADLINE_MS = 10_000;

/** The decompressed body of a request: of most routes, and of those with messages. */
export const MAX_REQUEST_BYTES: number = 1024 * 1024;
export const MAX_APPEND_REQUEST_BYTES: number = 16 * 1024 * 1024;
/**
 * JSON values in a body, field names included: of requests with messages, and of others. The time
 * and memory of `JSON.parse` grow with them: 100,000 take at most 70 ms.
 */
export const MAX_REQUEST_VALUES = 100_000;
export const MAX_QUERY_VALUES = 20_000;
/** An imported transcript, decompressed; and one line of it. */
export const MAX_IMPORT_BYTES: number = 512 * 1024 * 1024;
export const MAX_IMPORT_LINE_BYTES: number = 16 * 1024 * 1024;
/** JSON values in one record of a transcript, field names included: real ones stay under 50,000. */
export const MAX_RECORD_VALUES = 250_000;

/**
 * The whole answer of an MCP tool as JSON in UTF-8: the text, and the same as data. Agents truncate
 * or refuse answers of more than some 25,000 tokens, and read one of the two.
 */
export const MAX_MCP_ANSWER_BYTES: number = 128 * 1024;
/**
 * The bounds of `max_tokens` of an MCP tool, in tokens of 4 bytes. 16,000 are half of the largest
 * answer, which may hold the same twice.
 */
export const MIN_MCP_ANSWER_TOKENS = 200;
export const MAX_MCP_ANSWER_TOKENS = 16_000;
/** Defaults of `max_tokens`: a search of five hits, a list, a page of messages. */
export const DEFAULT_MCP_HIT_TOKENS = 1_500;
export const DEFAULT_MCP_LIST_TOKENS = 2_000;
export const DEFAULT_MCP_READ_TOKENS = 4_000;
/** Defaults of hits, and of messages before and after each, for a model. */
export const DEFAULT_MCP_HITS = 5;
export const DEFAULT_MCP_WINDOW = 1;
/** The shown part of one message over MCP. */
export const MAX_MCP_MESSAGE_BYTES: number = 32 * 1024;
export const DEFAULT_MCP_MESSAGE_BYTES: number = 2 * 1024;
/** The minimum budget of a context in tokens: the notes about cuts need room. */
export const MIN_CONTEXT_BUDGET = 256;
/** The budget of a context that does not name one, in tokens. */
export const DEFAULT_CONTEXT_BUDGET = 4_000;
/** The maximum budget of a context over MCP, in tokens: more does not fit into an answer. */
export const MAX_MCP_CONTEXT_TOKENS = 10_000;
/** A page of sessions that an MCP tool lists, and of messages. */
export const MAX_MCP_PAGE = 100;
export const DEFAULT_MCP_PAGE = 20;
/** A request to the MCP endpoint. */
export const MAX_MCP_REQUEST_BYTES: number = 10 * 1024 * 1024;

/** Open event streams of a tenant, and of a process. Idle, 1,000 take 93 MB. */
export const MAX_TENANT_FOLLOWERS = 100;
export const MAX_FOLLOWERS = 1_000;

/** The default duration of a share in days: a week of review. */
export const DEFAULT_SHARE_DAYS = 7;
/** The maximum duration of a share, so that a forgotten link expires. */
export const MAX_SHARE_DAYS = 365;
