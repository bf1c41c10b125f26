/** What a process that keeps an index until it is killed is told. */
export interface IndexTask {
  readonly address: string;
  readonly inThread: boolean;
  /** The URL of the index's code. */
  readonly module: string;
  /** The prefix of its sessions' ids. */
  readonly name: string;
  /** How long its lease outlives it. */
  readonly leaseMs: number;
}
