/** The task of a process that maintains an index until it is killed. */
export interface IndexTask {
  readonly address: string;
  readonly inThread: boolean;
  /** The URL of the index's code. */
  readonly module: string;
  /** The prefix of its sessions' ids. */
  readonly name: string;
  /** The duration of its lease. */
  readonly leaseMs: number;
}
