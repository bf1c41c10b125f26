/**
 * Vectorised pipelines: lines and entries in batches.
 *
 * A file comes in chunks of about a hundred lines. Awaiting each line costs more than splitting it
 * off: a promise and several microtasks per stage. So each stage passes on the items of a whole
 * chunk for synchronous iteration; callers may still iterate one by one.
 */

export interface Batched<Item> extends AsyncIterable<Item> {
  /**
   * Call it once, and instead of iterating single items. A batch is lazy: iterate it to its end
   * before asking for the next.
   */
  batches(): AsyncIterable<Iterable<Item>>;
  [Symbol.asyncIterator](): AsyncGenerator<Item>;
}

export function batched<Item>(batches: AsyncIterable<Iterable<Item>>): Batched<Item> {
  return {
    batches: () => batches,
    async *[Symbol.asyncIterator]() {
      for await (const batch of batches) yield* batch;
    },
  };
}

/** The batches of an iterable; without batches, each item is one. */
export function batchesOf<Item>(
  items: AsyncIterable<Item> | Batched<Item>,
): AsyncIterable<Iterable<Item>> {
  return "batches" in items ? items.batches() : singly(items);
}

/** Yields the results of `change` for each batch. */
export function mapBatches<Item, Result>(
  items: AsyncIterable<Item>,
  change: (batch: Iterable<Item>) => Iterable<Result>,
): Batched<Result> {
  async function* changed(): AsyncGenerator<Iterable<Result>> {
    for await (const batch of batchesOf(items)) yield change(batch);
  }
  return batched(changed());
}

interface Split<Item> {
  /** The items read so far. */
  readonly ahead: readonly Item[];
  readonly rest: AsyncIterable<Iterable<Item>>;
}

/** Reads items until there are enough. */
export async function splitAhead<Item>(
  items: AsyncIterable<Item>,
  isEnough: (taken: readonly Item[]) => boolean,
): Promise<Split<Item>> {
  const batches = batchesOf(items)[Symbol.asyncIterator]();
  const ahead: Item[] = [];
  let current: Iterator<Item> | undefined;
  while (!isEnough(ahead)) {
    if (current === undefined) {
      const next = await batches.next();
      if (next.done) break;
      current = next.value[Symbol.iterator]();
    }
    const item = current.next();
    if (item.done) current = undefined;
    else ahead.push(item.value);
  }
  async function* rest(): AsyncGenerator<Iterable<Item>> {
    if (current !== undefined) yield remaining(current);
    yield* { [Symbol.asyncIterator]: () => batches };
  }
  return { ahead, rest: rest() };
}

function* remaining<Item>(iterator: Iterator<Item>): Generator<Item> {
  for (let item = iterator.next(); !item.done; item = iterator.next()) yield item.value;
}

async function* singly<Item>(items: AsyncIterable<Item>): AsyncGenerator<Iterable<Item>> {
  for await (const item of items) yield [item];
}

/**
 * Ids of one session known at a time. The largest file seen, of 300 MB, has 150,000 lines. A
 * reference to an older id is a dangling one.
 */
export const KEPT_IDS = 200_000;

/** The limit of open calls: agents make a few at a time, and some never get a result. */
export const KEPT_CALLS = 10_000;

/** A counting semaphore, FIFO: bounds the number of concurrent memory-hungry readers. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with a slot's release function, to be called once. */
  async enter(): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return () => this.#leave();
  }

  async take<Result>(work: () => Promise<Result>): Promise<Result> {
    const leave = await this.enter();
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** FIFO: the slot passes directly to the longest waiter. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
