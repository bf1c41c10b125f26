/**
 * Fencing by timeline: chooses the primary among several servers. Pure.
 *
 * A promotion starts a timeline with a higher number. So a server on a lower timeline than this
 * node has used is a former primary, and is refused. On the same timeline a feed never becomes
 * shorter, so a server with a shorter feed is another copy, and is refused too. On a higher
 * timeline a shorter feed is a loss: the promoted standby had not received the end.
 */

/** A server's reported state. */
export interface ServerReport {
  /** Its place in the address. */
  readonly index: number;
  /** Identifies this run of this server. */
  readonly server: string;
  /** Not in recovery, and not read-only. */
  readonly isWritable: boolean;
  /** Null if the server does not report it. */
  readonly timeline: number | null;
  /** Missing changes per tenant, relative to what this node has seen. */
  readonly behind: ReadonlyMap<string, number>;
}

export type Verdict =
  | { readonly use: ServerReport; readonly isLossy: boolean }
  /** None is usable; `refused` are the writable servers that are behind. */
  | { readonly use: undefined; readonly refused: readonly ServerReport[] };

/** `seen` is the highest timeline that this node has used, or null. */
export function choosePrimary(reports: readonly ServerReport[], seen: number | null): Verdict {
  const writable = reports.filter(({ isWritable }) => isWritable);
  const usable = writable.filter((report) => !isBehind(report, seen));
  const [best] = usable.toSorted((a, b) => timelineOf(b) - timelineOf(a) || a.index - b.index);
  if (best === undefined) return { use: undefined, refused: writable };
  return { use: best, isLossy: best.behind.size > 0 };
}

function isBehind({ timeline, behind }: ServerReport, seen: number | null): boolean {
  if (timeline === null || seen === null) return behind.size > 0;
  return timeline < seen || (timeline === seen && behind.size > 0);
}

function timelineOf({ timeline }: ServerReport): number {
  return timeline ?? 0;
}
