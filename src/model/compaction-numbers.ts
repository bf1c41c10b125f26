/**
 * The numbers of compaction: policies, settings, schemas, help and documents read them here.
 *
 * Messages and tokens are those of `context/tokens.ts`.
 */
export const COMPACTION = {
  /** Tokens of the newest messages that `compact` keeps if nothing else is said; pi's number. */
  keepTokens: 20_000,

  /** The policy `turns`, and what `metadata.compaction` of a session replaces. */
  turns: { triggerTurns: 50, triggerTokens: 8_000 },

  /** The policy `pi`: the reserve for the answer and for what an estimate gets wrong, and its floor. */
  pi: { reserveTokens: 16_384, reserveTokensFloor: 20_000 },

  /** claw-code's: the input at which it compacts, the messages it keeps, and the least they all take. */
  claw: { inputTokens: 200_000, messages: 4, tokens: 10_000 },

  /** Below this gain a summary costs about what it saves. */
  minGainTokens: 1_000,

  /** Two exchanges between attempts: a context that is too full at once again will not get better. */
  cooldownMessages: 4,

  /** How far below the threshold of a compaction memories are flushed. */
  flushTokens: 4_000,
} as const;
