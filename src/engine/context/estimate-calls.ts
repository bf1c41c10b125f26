/**
 * Model calls whose provider reported nothing.
 *
 * Whoever watches how full a context is must hear of every call, or a session whose provider gives no
 * usage is never compacted. Such a call gets an estimate, marked as one. What a context takes is read
 * once and then counted along, so that a call does not cost more the longer the session is.
 */

import { totalTokens } from "../../context/pressure.ts";
import { countBlocks } from "../../context/tokens.ts";
import type { ContextEstimate } from "../../store/context-estimate.ts";
import type { AppendResult } from "../../store/records.ts";
import type { Draft } from "../message-input.ts";
import type { Scope } from "../scope.ts";
import { readPressure } from "./usage.ts";

/** What a context took when this process last appended to it. */
interface Known {
  readonly leaf: string | null;
  readonly tokens: number;
}

/** Sessions whose context is counted along; the one that was used longest ago goes first. */
const MAX_SESSIONS = 256;

export class ContextEstimates {
  readonly #known = new Map<string, Known>();
  /** Appends that wait for an estimate: what comes behind them in their session waits too. */
  readonly #waiting = new Map<string, Promise<void>>();

  /**
   * Stores drafts with `store`, each unmeasured call among them with an estimate. Appends that a
   * caller does not wait for keep their order.
   */
  append(
    scope: Scope,
    sessionId: string,
    drafts: readonly Draft[],
    parent: string | null | undefined,
    store: (drafts: readonly Draft[]) => Promise<AppendResult>,
  ): Promise<AppendResult> {
    const key = `${scope.tenant}/${sessionId}`;
    const before = this.#waiting.get(key);
    const isMeasured = !drafts.some(({ entry }) => isUnmeasured(entry));
    if (before === undefined && isMeasured && !this.#known.has(key)) return store(drafts);

    const known = parent === undefined ? this.#known.get(key) : undefined;
    if (before === undefined && (isMeasured || known !== undefined)) {
      return this.#store(scope, key, drafts, known, store);
    }
    const stored = (before ?? Promise.resolve()).then(async () => {
      const now = parent === undefined ? this.#known.get(key) : undefined;
      const tokens = now ?? (isMeasured ? undefined : await read(scope, sessionId, parent));
      return this.#store(scope, key, drafts, tokens, store);
    });
    const settled = stored.then(ignore, ignore).then(() => {
      if (this.#waiting.get(key) === settled) this.#waiting.delete(key);
    });
    this.#waiting.set(key, settled);
    return stored;
  }

  /** The context is another one now: it was compacted, or goes on from elsewhere. */
  forget(scope: Scope, sessionId: string): void {
    this.#known.delete(`${scope.tenant}/${sessionId}`);
  }

  /** Ends a streamed message of `tokens` tokens as an unmeasured call. */
  async commit(
    scope: Scope,
    sessionId: string,
    parent: string | null | undefined,
    tokens: number,
    store: (estimatedContext: ContextEstimate) => Promise<AppendResult>,
  ): Promise<AppendResult> {
    const key = `${scope.tenant}/${sessionId}`;
    const remembered = parent === undefined ? this.#known.get(key) : undefined;
    const known = remembered ?? (await read(scope, sessionId, parent));
    const total = known.tokens + tokens;
    const result = await store({ tokens: total, after: known.leaf });
    this.#follow(key, known, result, total);
    return result;
  }

  async #store(
    scope: Scope,
    key: string,
    drafts: readonly Draft[],
    known: Known | undefined,
    store: (drafts: readonly Draft[]) => Promise<AppendResult>,
  ): Promise<AppendResult> {
    let tokens = known?.tokens ?? 0;
    const ready = drafts.map((draft) => {
      const { entry, blocks } = draft;
      tokens =
        entry.usage === null
          ? tokens + countBlocks(blocks, scope.counter)
          : totalTokens(entry.usage);
      if (known === undefined || !isUnmeasured(entry)) return draft;
      return { ...draft, entry: { ...entry, estimatedContext: { tokens, after: known.leaf } } };
    });
    this.#known.delete(key);
    const result = await store(ready);
    this.#follow(key, known, result, tokens);
    return result;
  }

  /** Somebody else may have appended in between: then the context is read again next time. */
  #follow(key: string, known: Known | undefined, result: AppendResult, tokens: number): void {
    this.#known.delete(key);
    if (known === undefined || result.replayed) return;
    if (result.entries[0]?.parentId !== known.leaf) return;
    this.#known.set(key, { leaf: result.leaf, tokens });
    if (this.#known.size <= MAX_SESSIONS) return;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }
}

/** An assistant message that names its model and has no usage: a call that nobody measured. */
export function isUnmeasured(entry: Draft["entry"]): boolean {
  return entry.role === "assistant" && entry.model !== null && entry.usage === null;
}

async function read(
  scope: Scope,
  sessionId: string,
  parent: string | null | undefined,
): Promise<Known> {
  if (parent === null) return { leaf: null, tokens: 0 };
  const session = await scope.store.findSession(scope.tenant, sessionId);
  const leaf = parent ?? session?.leaf ?? null;
  if (leaf === null) return { leaf, tokens: 0 };
  const { contextTokens } = await readPressure(scope, sessionId, leaf);
  return { leaf, tokens: contextTokens };
}

function ignore(): void {
  // Whoever made the call hears of its failure; those behind it only wait.
}
