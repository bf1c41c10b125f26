/**
 * Checks the write-ahead log before SQLite opens a store.
 *
 * SQLite discards the frames after a damaged frame: the next commit overwrites them, and closing the
 * store removes the log. So the log is read first, and copied aside if commits would be lost.
 * Further openings in this process skip the check.
 */

import { pause } from "../../../async/pause.ts";
import { BackscrollError } from "../../../model/errors.ts";
import type { StoreLoss } from "../../../model/store-loss.ts";
import { isKept, keepLog } from "./kept-logs.ts";
import type { LogLoss } from "./log-scan.ts";
import { scanLog } from "./read-log.ts";

interface Holding {
  holders: number;
  readonly loss: Promise<LogLoss | undefined>;
  /** While a copy of the log is made, concurrent openings wait for it. */
  keeping?: Promise<void> | undefined;
}

/** Stores that this process has open or is opening. */
const holdings = new Map<string, Holding>();

export interface HeldStore {
  /** A loss that could not be kept aside: only of a read-only store. */
  readonly unkept: StoreLoss | undefined;
  /** The log breaks before its end: the part that SQLite ignores is kept aside, or in `unkept`. */
  readonly isBroken: boolean;
  /** Called once, when SQLite has closed the store. */
  release(): void;
}

/** Throws `store_corrupt` if writing to the store would destroy commits that could not be copied. */
export async function holdStore(store: string, readOnly: boolean): Promise<HeldStore> {
  const known = holdings.get(store);
  const holding = known ?? { holders: 0, loss: findLoss(`${store}-wal`) };
  if (known === undefined) holdings.set(store, holding);
  holding.holders++;
  const release = () => {
    holding.holders--;
    if (holding.holders === 0) holdings.delete(store);
  };
  try {
    const loss = await holding.loss;
    const unkept = loss && (await keepAside(store, loss, readOnly, holding));
    return { unkept, isBroken: loss !== undefined, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Gives the loss if it could not be kept. */
async function keepAside(
  store: string,
  loss: LogLoss,
  readOnly: boolean,
  holding: Holding,
): Promise<StoreLoss | undefined> {
  const foundAt = Date.now();
  holding.keeping ??= keepOnce(store, loss, foundAt).finally(() => {
    holding.keeping = undefined;
  });
  try {
    await holding.keeping;
    return undefined;
  } catch (cause) {
    const unkept: StoreLoss = { kind: "log", foundAt, commits: loss.commits, kept: null };
    if (readOnly) return unkept;
    throw new BackscrollError(
      "store_corrupt",
      `${store}-wal is damaged: at least ${loss.commits} of its commits would be lost by writing, and it cannot be kept aside: ${(cause as Error).message}; make room in its folder, or open the store for reading`,
      { details: { path: store, commits: loss.commits }, cause },
    );
  }
}

async function keepOnce(store: string, loss: LogLoss, now: number): Promise<void> {
  if (!(await isKept(store, loss))) await keepLog(store, loss, now);
}

/** Between two reads, so that a write in progress can end. */
const PAUSE_MS = 20;
const MAX_LOOKS = 8;

/**
 * Double read: the result on which two reads agree. Beside a writer, one read may miss a frame and
 * see later ones, or see the log restart. The second read finds the frame, or other salts.
 */
export async function findLoss(log: string): Promise<LogLoss | undefined> {
  let seen = await scan(log);
  for (let look = 1; seen !== undefined && look < MAX_LOOKS; look++) {
    await pause(PAUSE_MS);
    const again = await scan(log);
    if (again?.salts === seen.salts && again.frame === seen.frame) return again;
    seen = again;
  }
  return undefined;
}

async function scan(log: string): Promise<LogLoss | undefined> {
  try {
    return await scanLog(log);
  } catch (cause) {
    throw new BackscrollError(
      "store_unavailable",
      `${log} cannot be read: ${(cause as Error).message}; check its permissions and the disk`,
      { details: { path: log }, cause },
    );
  }
}
