/** Types of Mastra's memory domain, as far as they are used here, declared without the package. */

export interface MastraThread {
  id: string;
  title?: string;
  resourceId: string;
  createdAt: Date;
  updatedAt: Date;
  metadata?: Record<string, unknown>;
}

/** A `MastraDBMessage`. `content` is Mastra's own, and is returned unchanged. */
export interface MastraMessage {
  id: string;
  role: string;
  createdAt: Date;
  threadId?: string;
  resourceId?: string;
  type?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the package's union of parts must be assignable both ways.
  content: any;
}

/** Fields of `content` are merged into the stored ones. */
export type MastraMessageUpdate = Partial<MastraMessage> & { id: string };

export interface MastraResource {
  id: string;
  workingMemory?: string;
  metadata?: Record<string, unknown>;
  createdAt: Date;
  updatedAt: Date;
}

export interface Order {
  readonly field?: "createdAt" | "updatedAt";
  readonly direction?: "ASC" | "DESC";
}

/** False: all of them. */
export type PerPage = number | false;

export interface Paging {
  readonly perPage?: PerPage;
  /** Zero-based. */
  readonly page?: number;
  readonly orderBy?: Order;
}

export interface Page {
  total: number;
  page: number;
  perPage: PerPage;
  hasMore: boolean;
}

export interface DateRange {
  readonly start?: Date;
  readonly end?: Date;
  readonly startExclusive?: boolean;
  readonly endExclusive?: boolean;
}

export interface IncludedMessage {
  readonly id: string;
  readonly withPreviousMessages?: number;
  readonly withNextMessages?: number;
}

export interface MessageListing extends Paging {
  readonly include?: readonly IncludedMessage[];
  readonly filter?: {
    readonly dateRange?: DateRange;
    readonly metadata?: Readonly<Record<string, unknown>>;
  };
  /** False: the caller does not need `total`. */
  readonly includeTotal?: boolean;
}

export interface ThreadListing extends Paging {
  readonly filter?: {
    readonly resourceId?: string;
    readonly metadata?: Readonly<Record<string, unknown>>;
  };
}

export interface ThreadCopy {
  readonly sourceThreadId: string;
  readonly newThreadId?: string;
  readonly resourceId?: string;
  readonly title?: string;
  readonly metadata?: Record<string, unknown>;
  readonly options?: {
    readonly messageLimit?: number;
    readonly messageFilter?: {
      readonly startDate?: Date;
      readonly endDate?: Date;
      readonly messageIds?: readonly string[];
    };
  };
}
