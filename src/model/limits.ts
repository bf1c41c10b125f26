/**
 * Every number that bounds an input or an answer, in one place.
 *
 * They are limits of the product, alike on both backends. Exceeding one gives `too_large` with the
 * field, the limit and the actual size.
 */

/** A message's JSON, UTF-8. Larger things (a video, a core dump) belong in a file that it names. */
export const MAX_CONTENT_BYTES: number = 8 * 1024 * 1024;

/** Blocks in one message. Real transcripts stay under a hundred. */
export const MAX_BLOCKS = 2_000;

/** How deeply JSON that callers hand in may nest. */
export const MAX_JSON_DEPTH = 200;

/**
 * Entries in one atomic append, and the bytes of their content and metadata together, with 1 KiB more
 * for each entry: so a batch that the library takes also fits into a request to the server.
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

/** A record: its namespace, its key, its value, and the text by which it is found. */
export const MAX_NAMESPACE_BYTES = 512;
export const MAX_RECORD_KEY_BYTES = 1_024;
export const MAX_RECORD_BYTES: number = 16 * 1024 * 1024;
export const MAX_RECORD_TEXT_BYTES: number = 256 * 1024;
/** Operations in one atomic write of records, and the bytes of their values and texts together. */
export const MAX_RECORD_OPERATIONS = 1_000;
export const MAX_RECORD_BATCH_BYTES: number = 17 * 1024 * 1024;
/** A request that writes records: a batch, and the names of its records. */
export const MAX_RECORD_REQUEST_BYTES: number = 20 * 1024 * 1024;

/** Subject, predicate or object of a fact. */
export const MAX_FACT_BYTES: number = 4 * 1024;

/** A session key: an agent, a channel, an account and a peer, each as long as a name may get. */
export const MAX_SESSION_KEY_BYTES = 2_048;

/** Names that one access token may write for; more than a few callers want `any`. */
export const MAX_ACT_AS = 100;

/** Entries that one transaction of a deletion deletes: a longer session takes several of them. */
export const MAX_DELETED_ENTRIES = 5_000;

/** How long an idempotency key is remembered. */
export const IDEMPOTENCY_KEPT_MS: number = 7 * 24 * 60 * 60 * 1000;

/** Limits of a search. */
export const MAX_QUERY_BYTES: number = 16 * 1024;
export const MAX_HITS = 20;
export const DEFAULT_HITS = 10;
/** Messages in the window round a hit, the hit included. */
export const MAX_WINDOW = 16;
export const DEFAULT_CONTEXT = 4;
/** Alternatives in one filter of a search, such as sessions to leave out. */
export const MAX_FILTER_VALUES = 1_000;
export const SEARCH_DEADLINE_MS = 500;
/** The longest deadline in a request to the server: the search thread is shared. */
export const MAX_SEARCH_DEADLINE_MS = 10_000;

/** The body of a request to the server, unpacked: of most routes, and of those that carry messages. */
export const MAX_REQUEST_BYTES: number = 1024 * 1024;
export const MAX_APPEND_REQUEST_BYTES: number = 16 * 1024 * 1024;
/**
 * JSON values in a body, names of fields included, of requests that carry messages; and of those that
 * only ask. The time and memory of `JSON.parse` grow with them: 100,000 take at most 70 ms.
 */
export const MAX_REQUEST_VALUES = 100_000;
export const MAX_QUERY_VALUES = 20_000;
/** A transcript that is imported, unpacked; and one line of it. */
export const MAX_IMPORT_BYTES: number = 512 * 1024 * 1024;
export const MAX_IMPORT_LINE_BYTES: number = 16 * 1024 * 1024;
/** JSON values in one record of a transcript, names of fields included: real ones stay under 50,000. */
export const MAX_RECORD_VALUES = 250_000;

/**
 * The whole answer of an MCP tool as JSON, UTF-8: the text, and the same as data. Agents cut off or
 * refuse answers of more than some 25,000 tokens, and read one of the two.
 */
export const MAX_MCP_ANSWER_BYTES: number = 128 * 1024;
/**
 * What an answer of an MCP tool may take of a model's context, in tokens of 4 bytes. 16,000 are
 * half of the largest answer, which may hold the same twice.
 */
export const MIN_MCP_ANSWER_TOKENS = 200;
export const MAX_MCP_ANSWER_TOKENS = 16_000;
/** If `max_tokens` is left out: a search of five hits, a list, a page that is read. */
export const DEFAULT_MCP_HIT_TOKENS = 1_500;
export const DEFAULT_MCP_LIST_TOKENS = 2_000;
export const DEFAULT_MCP_READ_TOKENS = 4_000;
/** Hits, and messages before and after each, that a model is shown if it does not say. */
export const DEFAULT_MCP_HITS = 5;
export const DEFAULT_MCP_WINDOW = 1;
/** What an MCP tool shows of one message. */
export const MAX_MCP_MESSAGE_BYTES: number = 32 * 1024;
export const DEFAULT_MCP_MESSAGE_BYTES: number = 2 * 1024;
/** The minimum budget of a context in tokens: the notes about cuts need room. */
export const MIN_CONTEXT_BUDGET = 256;
/** The budget of a context that does not name one, in tokens. */
export const DEFAULT_CONTEXT_BUDGET = 4_000;
/** What a context over MCP is built for at most, in tokens: more does not fit into an answer. */
export const MAX_MCP_CONTEXT_TOKENS = 10_000;
/** A page of sessions that an MCP tool lists, and of messages. */
export const MAX_MCP_PAGE = 100;
export const DEFAULT_MCP_PAGE = 20;
/** A request to the MCP endpoint. */
export const MAX_MCP_REQUEST_BYTES: number = 10 * 1024 * 1024;

/** Streams of events that a tenant, and a process, may have open. Idle, 1,000 take 93 MB. */
export const MAX_TENANT_FOLLOWERS = 100;
export const MAX_FOLLOWERS = 1_000;

/** Days after which a share ends whose maker names no end: a week of a review. */
export const DEFAULT_SHARE_DAYS = 7;
/** The longest that a share may last: a forgotten link does not stay open for good. */
export const MAX_SHARE_DAYS = 365;
