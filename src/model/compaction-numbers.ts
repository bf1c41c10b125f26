/**
 * The numbers of compaction, for policies, settings, schemas, help and documents.
 *
 * Messages and tokens are those of `context/tokens.ts`.
 */
export const COMPACTION = {
  /** Tokens of the newest messages that `compact` keeps by default; pi's number. */
  keepTokens: 20_000,

  /** The policy `turns`, which a session's `metadata.compaction` overrides. */
  turns: { triggerTurns: 50, triggerTokens: 8_000 },

  /** The policy `pi`: the reserve for the answer and for estimation errors, and its floor. */
  pi: { reserveTokens: 16_384, reserveTokensFloor: 20_000 },

  /** claw-code's: its input threshold, the messages it keeps, and their minimum tokens. */
  claw: { inputTokens: 200_000, messages: 4, tokens: 10_000 },

  /** A smaller gain is about the cost of the summary. */
  minGainTokens: 1_000,

  /** Two exchanges between attempts: retrying sooner would not help. */
  cooldownMessages: 4,

  /** The distance of the memory flush below the compaction's threshold. */
  flushTokens: 4_000,
} as const;
