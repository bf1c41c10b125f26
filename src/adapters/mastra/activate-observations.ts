/** Activates buffered observations: selects the chunks, and computes the resulting record. Pure. */

import type {
  Activated,
  Activation,
  ObservationChunk,
  ObservationRecord,
} from "./observation-types.ts";

/** The limit of a whole chunk, as a share of the tokens that should remain. */
const MAX_OVERSHOOT = 0.95;
/** Tokens of messages that always remain, unless fewer should. */
const MIN_LEFT = 1_000;

/** The record after the activation; the same one if nothing is buffered. */
export function activate(
  record: ObservationRecord,
  input: Activation,
): { readonly record: ObservationRecord; readonly activated: Activated } {
  const chunks = input.bufferedChunks ?? record.bufferedObservationChunks ?? [];
  const chosen = chunks.slice(0, countActivated(chunks, input));
  const last = chosen.at(-1);
  if (last === undefined) return { record, activated: toActivated([]) };
  const rest = chunks.slice(chosen.length);
  const lastObservedAt = input.lastObservedAt ?? new Date(last.lastObservedAt);
  const activated = toActivated(chosen);
  const { activeObservations: active } = record;
  // The words are Mastra's: its observer looks for them.
  const boundary = `\n\n--- message boundary (${lastObservedAt.toISOString()}) ---\n\n`;
  const added = activated.observations ?? "";
  const changed: ObservationRecord = {
    ...record,
    activeObservations: active === "" ? added : `${active}${boundary}${added}`,
    observationTokenCount: record.observationTokenCount + activated.observationTokensActivated,
    pendingMessageTokens: Math.max(
      0,
      record.pendingMessageTokens - activated.messageTokensActivated,
    ),
    bufferedObservationChunks: rest.length === 0 ? undefined : [...rest],
    lastObservedAt,
  };
  return { record: changed, activated };
}

/**
 * The number of chunks to activate, whole and oldest first: enough to reduce the messages to the
 * tokens that should remain, or one fewer if the last chunk would remove nearly all of those.
 */
function countActivated(chunks: readonly ObservationChunk[], input: Activation): number {
  if (chunks.length === 0) return 0;
  const { currentPendingTokens: pending, forceMaxActivation = false } = input;
  const toStay = input.messageTokensThreshold * (1 - input.activationRatio);
  const target = Math.max(0, pending - toStay);
  const least = Math.min(MIN_LEFT, toStay);
  let gone = 0;
  const sums = chunks.map(({ messageTokens }) => (gone += messageTokens ?? 0));
  const enough = sums.findIndex((sum) => sum >= target);
  // Chunks without tokens have no effect, so the first of equal sums counts.
  const under = sums.slice(0, enough < 0 ? sums.length : enough);
  const most = Math.max(0, ...under);
  const fewer = most === 0 ? 0 : under.indexOf(most) + 1;
  const leaves = (count: number) => pending - (sums[count - 1] ?? 0) >= least;
  if (enough >= 0) {
    const count = enough + 1;
    const over = (sums[enough] ?? 0) - target;
    const isClose = forceMaxActivation || over <= toStay * MAX_OVERSHOOT;
    if (isClose && leaves(count)) return count;
    return fewer > 0 && leaves(fewer) ? fewer : count;
  }
  return fewer > 0 && leaves(fewer) ? fewer : 1;
}

function toActivated(chunks: readonly ObservationChunk[]): Activated {
  const sum = (of: (chunk: ObservationChunk) => number) =>
    chunks.reduce((total, chunk) => total + of(chunk), 0);
  const activated: Activated = {
    chunksActivated: chunks.length,
    messageTokensActivated: sum(({ messageTokens }) => messageTokens ?? 0),
    observationTokensActivated: sum(({ tokenCount }) => tokenCount),
    messagesActivated: sum(({ messageIds }) => messageIds.length),
    activatedCycleIds: chunks.flatMap(({ cycleId }) => (cycleId ? [cycleId] : [])),
    activatedMessageIds: chunks.flatMap(({ messageIds }) => messageIds),
  };
  if (chunks.length === 0) return activated;
  const { suggestedContinuation, currentTask } = chunks.at(-1) as ObservationChunk;
  return {
    ...activated,
    observations: chunks.map(({ observations }) => observations).join("\n\n"),
    perChunk: chunks.map((chunk) => ({
      cycleId: chunk.cycleId ?? "",
      messageTokens: chunk.messageTokens ?? 0,
      observationTokens: chunk.tokenCount,
      messageCount: chunk.messageIds.length,
      observations: chunk.observations,
    })),
    suggestedContinuation,
    currentTask,
  };
}
