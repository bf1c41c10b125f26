/** The problems found by a verification. */

import type { VERIFY_REPORT } from "../../model/answers/store.ts";
import type { FieldsOf } from "../../model/shape.ts";
import { damageText, isDamage } from "../../store/damage/damage-errors.ts";
import type { Store } from "../../store/store.ts";

export type Problem = FieldsOf<typeof VERIFY_REPORT>["problems"][number];

/** The limit of listed problems; further ones are counted. */
const MAX_PROBLEMS = 1_000;

export class Problems {
  readonly list: Problem[] = [];
  count = 0;

  add(tenant: string, sessionId: string | null, entryId: string | null, problem: string): void {
    this.count++;
    if (this.list.length < MAX_PROBLEMS) this.list.push({ tenant, sessionId, entryId, problem });
  }

  /** Runs a step of the verification. Damage becomes a problem, and later steps still run. */
  async attempt(
    tenant: string,
    sessionId: string | null,
    step: () => Promise<void>,
  ): Promise<void> {
    const reason = await damageOf(step);
    if (reason !== undefined) this.add(tenant, sessionId, null, reason);
  }
}

/** The reason of a failed read, if it is damage; undefined if it succeeds. */
export async function damageOf(read: () => Promise<void>): Promise<string | undefined> {
  try {
    await read();
    return undefined;
  } catch (error) {
    if (isDamage(error)) return damageText(error);
    throw error;
  }
}

export interface TenantRun {
  readonly store: Store;
  readonly tenant: string;
  readonly problems: Problems;
  readonly counted: Counted;
  /** Sessions that exist according to the feed. */
  readonly inFeed: Set<string>;
  readonly onProgress: () => void;
}

/** Counts of checked items. */
export interface Counted {
  sessions: number;
  entries: number;
  changes: number;
}
