/** Losses: commits that a store has lost, reported until acknowledged. */

export type StoreLoss =
  /** Commits after a damaged part of the write-ahead log, which SQLite discards. */
  | {
      readonly kind: "log";
      readonly foundAt: number;
      /** A lower bound: damaged frames cannot be counted. */
      readonly commits: number;
      /** The file that holds the whole log; null if it could not be kept. */
      readonly kept: string | null;
    }
  /** A tenant's index has changes that its feed lacks. */
  | {
      readonly kind: "index";
      readonly foundAt: number;
      readonly tenant: string;
      readonly changes: number;
    }
  /** A standby was promoted before it had received the end of a tenant's feed. */
  | {
      readonly kind: "failover";
      readonly foundAt: number;
      readonly tenant: string;
      /** A lower bound: the changes that this process had seen. */
      readonly changes: number;
    };

/** A clause for people. */
export function describeLoss(loss: StoreLoss): string {
  if (loss.kind === "failover") {
    const changes = counted(loss.changes, "change");
    return `the new primary does not have the last ${changes} of tenant ${loss.tenant}: they were lost with the old one, which was not replicated synchronously`;
  }
  if (loss.kind === "index") {
    const changes = counted(loss.changes, "change");
    return `the index of tenant ${loss.tenant} has ${changes} that the store does not have: they were lost`;
  }
  const commits = counted(loss.commits, "commit");
  const kept =
    loss.kept === null
      ? "the log could not be kept aside, because its folder may not be written"
      : `the whole log is kept in ${loss.kept}`;
  return `the write-ahead log was damaged, and at least ${commits} behind the damage were lost; ${kept}`;
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
