/**
 * Verifies tombstones: entries whose own hash can no longer be computed.
 *
 * The feed attests them. The change of an erasure has a digest of each entry's remaining fields,
 * and the removed tokens; and a session has as many tombstones as the feed names, so an emptied row
 * cannot pass for one.
 */

import { totalTokens } from "../../model/prices.ts";
import type { Session } from "../../model/session.ts";
import { rowDamaged } from "../../store/damage/damage-errors.ts";
import { storedObject } from "../../store/damage/stored-json.ts";
import { digestOf } from "../../store/plan/plan-erase.ts";
import type { ChangeRecord } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";

/** Erasures of a session's entries according to the feed. */
export interface ErasureSums {
  readonly tombstones: number;
  readonly tokens: number;
}

const NOTHING: ErasureSums = { tombstones: 0, tokens: 0 };
const PAGE = 200;

export class FeedErasures {
  readonly #store: Store;
  readonly #tenant: string;
  readonly #bySession = new Map<string, ErasureSums>();
  #through = 0;

  constructor(store: Store, tenant: string) {
    this.#store = store;
    this.#tenant = tenant;
  }

  /** Processes the next changes of the feed; gives those that contradict the stored rows. */
  async take(changes: readonly ChangeRecord[]): Promise<ChangeRecord[]> {
    const wrong: ChangeRecord[] = [];
    for (const change of changes) {
      this.#through = change.position;
      const { kind, sessionId } = change;
      // An id may be reused after a deletion.
      if (kind === "session_deleted") this.#bySession.delete(sessionId ?? "");
      const erasure = kind === "content_erased" ? parse(change) : undefined;
      if (erasure === undefined || sessionId === null) continue;
      const page = await this.#store.findEntries(this.#tenant, erasure.ids, false, true);
      const isWhole = page.entries.length === erasure.ids.length;
      if (isWhole && digestOf(page.entries) !== erasure.digest) wrong.push(change);
      this.#bySession.set(sessionId, sum(this.#of(sessionId), erasure));
    }
    return wrong;
  }

  /**
   * Compares a session's tombstones and used tokens with the feed. A concurrent erasure makes both
   * the old and the new figure valid.
   */
  async compare(session: Session, found: ErasureSums): Promise<string[]> {
    const total = totalTokens(session.tokens);
    const before = this.#of(session.id);
    const isRight = found.tombstones === before.tombstones;
    if (isRight && found.tokens + before.tokens === total) return [];
    const now = await this.#ofNow(session.id);
    const used = found.tokens + now.tokens;
    return [
      ...(found.tombstones < before.tombstones || found.tombstones > now.tombstones
        ? [`the session has ${found.tombstones} tombstones, the feed names ${now.tombstones}`]
        : []),
      ...(found.tokens + before.tokens > total || used < total
        ? [`the session's entries used ${used} tokens, its row says ${total}`]
        : []),
    ];
  }

  #of(sessionId: string): ErasureSums {
    return this.#bySession.get(sessionId) ?? NOTHING;
  }

  /** Includes erasures since the feed was read. */
  async #ofNow(sessionId: string): Promise<ErasureSums> {
    let buried = this.#of(sessionId);
    for (let after = this.#through; ; ) {
      const page = await this.#store.listChanges(this.#tenant, after, PAGE, sessionId);
      for (const change of page.changes) {
        const erasure = change.kind === "content_erased" ? parse(change) : undefined;
        if (erasure !== undefined) buried = sum(buried, erasure);
      }
      if (page.through === after) return buried;
      after = page.through;
    }
  }
}

interface Erasure extends ErasureSums {
  readonly ids: readonly string[];
  readonly digest: string;
}

/** Undefined if whole rows without content were left. */
function parse({ position, details }: ChangeRecord): Erasure | undefined {
  const damaged = (cause: unknown) =>
    rowDamaged(`change ${position} of the feed`, "its details are no JSON", cause);
  const { ids, digest, tokens } = storedObject(details, damaged);
  if (!Array.isArray(ids) || typeof digest !== "string") return undefined;
  return { ids: ids.map(String), digest, tokens: Number(tokens ?? 0), tombstones: ids.length };
}

function sum(a: ErasureSums, b: ErasureSums): ErasureSums {
  return { tombstones: a.tombstones + b.tombstones, tokens: a.tokens + b.tokens };
}
