/** Types of Mastra's memory domain, as far as they are used here, declared without the package. */

export interface MastraThread {
  id: string;
  title?: string;
  resourceId: string;
  createdAt: Date;
  updatedAt: Date;
  metadata?: Record<string, unknown>;
}

/** A `MastraDBMessage`. `content` is Mastra's own, and is returned unchanged. */
export interface MastraMessage {
  id: string;
  role: string;
  createdAt: Date;
  threadId?: string;
  resourceId?: string;
  type?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the package's union of parts must be assignable both ways.
  content: any;
}

/** Fields of `content` are merged into the stored ones. */
export type MastraMessageUpdate = Partial<MastraMessage> & { id: string };

export interface MastraResource {
  id: string;
  workingMemory?: string;
  metadata?: Record<string, unknown>;
  createdAt: Date;
  updatedAt: Date;
}

export interface Order {
  readonly field?: "createdAt" | "updatedAt";
  readonly direction?: "ASC" | "DESC";
}

/** False: all of them. */
export type PerPage = number | false;

export interface Paging {
  readonly perPage?: PerPage;
  /** Zero-based. */
  readonly page?: number;
  readonly orderBy?: Order;
}

export interface Page {
  total: number;
  page: number;
  perPage: PerPage;
  hasMore: boolean;
}

export interface DateRange {
  readonly start?: Date;
  readonly end?: Date;
  readonly startExclusive?: boolean;
  readonly endExclusive?: boolean;
}

export interface IncludedMessage {
  readonly id: string;
  readonly withPreviousMessages?: number;
  readonly withNextMessages?: number;
}

export interface MessageListing extends Paging {
  readonly include?: readonly IncludedMessage[];
  readonly filter?: {
    readonly dateRange?: DateRange;
    readonly metadata?: Readonly<Record<string, unknown>>;
  };
  /** False: the caller does not need `total`. */
  readonly includeTotal?: boolean;
}

export interface ThreadListing extends Paging {
  readonly filter?: {
    readonly resourceId?: string;
    readonly metadata?: Readonly<Record<string, unknown>>;
  };
}

export interface ThreadCopy {
  readonly sourceThreadId: string;
  readonly newThreadId?: string;
  readonly resourceId?: string;
  readonly title?: string;
  readonly metadata?: Record<string, unknown>;
  readonly options?: {
    readonly messageLimit?: number;
    readonly messageFilter?: {
      readonly startDate?: Date;
      readonly endDate?: Date;
      readonly messageIds?: readonly string[];
    };
  };
}

/**
 * Types of Mastra's observational memory: an observer's notes on messages, and reflections on them.
 */
export interface ObservationChunk {
  id?: string;
  cycleId: string;
  observations: string;
  tokenCount: number;
  messageIds: string[];
  messageTokens: number;
  lastObservedAt: Date;
  createdAt?: Date;
  suggestedContinuation?: string;
  currentTask?: string;
  threadTitle?: string;
  extractedValues?: Record<string, unknown>;
  extractionFailures?: { slug: string; error: string }[];
}

export interface ObservationRecord {
  id: string;
  scope: "thread" | "resource";
  threadId: string | null;
  resourceId: string;
  createdAt: Date;
  updatedAt: Date;
  lastObservedAt?: Date;
  originType: "initial" | "reflection";
  /** Counts reflections. */
  generationCount: number;
  activeObservations: string;
  /** Observations before their activation. */
  bufferedObservationChunks?: ObservationChunk[] | undefined;
  /** A reflection before its activation, and the lines of the observations that it covers. */
  bufferedReflection?: string | undefined;
  bufferedReflectionTokens?: number | undefined;
  bufferedReflectionInputTokens?: number | undefined;
  reflectedObservationLineCount?: number | undefined;
  observedMessageIds?: string[];
  observedTimezone?: string;
  totalTokensObserved: number;
  observationTokenCount: number;
  pendingMessageTokens: number;
  isReflecting: boolean;
  isObserving: boolean;
  isBufferingObservation: boolean;
  isBufferingReflection: boolean;
  lastBufferedAtTokens: number;
  lastBufferedAtTime: Date | null;
  config: Record<string, unknown>;
  metadata?: Record<string, unknown>;
}

export interface NewObservations {
  readonly threadId: string | null;
  readonly resourceId: string;
  readonly scope: "thread" | "resource";
  readonly config: Record<string, unknown>;
  readonly observedTimezone?: string;
}

export interface Activation {
  readonly id: string;
  /** The share of the threshold to activate; the rest stays as messages. */
  readonly activationRatio: number;
  readonly messageTokensThreshold: number;
  readonly currentPendingTokens: number;
  /** Prefers too much over too little. */
  readonly forceMaxActivation?: boolean;
  readonly lastObservedAt?: Date;
  /** The stored chunks with newer counts of tokens. */
  readonly bufferedChunks?: readonly ObservationChunk[];
}

export interface Activated {
  chunksActivated: number;
  messageTokensActivated: number;
  observationTokensActivated: number;
  messagesActivated: number;
  activatedCycleIds: string[];
  activatedMessageIds: string[];
  observations?: string;
  perChunk?: {
    cycleId: string;
    messageTokens: number;
    observationTokens: number;
    messageCount: number;
    observations: string;
  }[];
  suggestedContinuation?: string | undefined;
  currentTask?: string | undefined;
}
