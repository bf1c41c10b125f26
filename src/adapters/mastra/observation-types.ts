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
