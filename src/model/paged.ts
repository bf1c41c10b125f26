/**
 * Pages that go on by themselves: `for await (const hit of await memory.searchSessions("cron"))` gives
 * the items of the page, and those of the pages after it, each read when it is reached.
 */

/** A page whose iteration reads on. What comes with it (a total, a cursor) is that of this page. */
export type Paged<Page, Item> = Page & AsyncIterable<Item>;

export interface Paging {
  /** The field of a page that has its items. */
  readonly items: string;
  /** What the input of the next page differs in; undefined after the last page. */
  next(page: never): object | undefined;
}

export type PagedCall =
  | "listSessions"
  | "searchSessions"
  | "listRecords"
  | "listMessages"
  | "listEntries"
  | "listChanges";

const byCursor = (cursor: string | undefined) => (cursor === undefined ? undefined : { cursor });

/** By the names of the calls that give such pages. */
export const PAGINGS: Readonly<Record<PagedCall, Paging>> = {
  listSessions: {
    items: "sessions",
    next: (page: { readonly nextCursor?: string }) => byCursor(page.nextCursor),
  },
  searchSessions: {
    items: "hits",
    next: (page: { readonly nextCursor?: string }) => byCursor(page.nextCursor),
  },
  listRecords: {
    items: "records",
    next: (page: { readonly next?: string }) => byCursor(page.next),
  },
  listMessages: {
    items: "messages",
    next(page: { offset: number; total: number; messages: readonly unknown[] }) {
      const offset = page.offset + page.messages.length;
      const isLast = page.messages.length === 0 || offset >= page.total;
      return isLast ? undefined : { offset, around: undefined };
    },
  },
  listEntries: {
    items: "entries",
    next: (page: { readonly next?: string }) =>
      page.next === undefined ? undefined : { after: page.next, offset: undefined },
  },
  listChanges: {
    items: "changes",
    next: (page: { readonly next: string; readonly end: boolean }) =>
      page.end ? undefined : { after: page.next },
  },
};

/** Reads a page, and lets it be iterated. `read` is called with the input of each page. */
export async function readPaged<Input extends object, Page extends object, Item>(
  { items, next }: Paging,
  input: Input,
  read: (input: Input) => Promise<Page>,
): Promise<Paged<Page, Item>> {
  const first = await read(input);
  async function* iterate(): AsyncGenerator<Item, void> {
    for (let [page, asked] = [first, input]; ; ) {
      yield* (page as Readonly<Record<string, readonly Item[]>>)[items] ?? [];
      const change = next(page as never);
      if (change === undefined) return;
      asked = withoutUndefined({ ...asked, ...change });
      page = await read(asked);
    }
  }
  // Not enumerable: a page is compared, copied and printed as plain data.
  Object.defineProperty(first, Symbol.asyncIterator, { value: iterate });
  return first as Paged<Page, Item>;
}

function withoutUndefined<Input extends object>(input: Input): Input {
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Input;
}
