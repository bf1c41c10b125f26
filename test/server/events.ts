/** Server-sent events as they arrive. */

export interface Event {
  readonly id: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export class Events {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #abort: AbortController;
  readonly #decoder = new TextDecoder();
  #text = "";
  #comments = 0;
  #next: Promise<string> | undefined;

  private constructor(body: ReadableStream<Uint8Array>, abort: AbortController) {
    this.#reader = body.getReader();
    this.#abort = abort;
  }

  static async open(url: string, headers: Record<string, string> = {}): Promise<Events> {
    const abort = new AbortController();
    const response = await fetch(url, {
      headers: { accept: "text/event-stream", ...headers },
      signal: abort.signal,
    });
    if (response.status !== 200 || response.body === null) {
      throw new Error(`${response.status}: ${await response.text()}`);
    }
    return new Events(response.body, abort);
  }

  /** Waits for `count` events; gives fewer after `patienceMs` without one. */
  async take(count: number, patienceMs?: number): Promise<Event[]> {
    const events: Event[] = [];
    while (events.length < count) {
      const block = await this.#within(patienceMs);
      if (block === undefined) return events;
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
      const data = field("data");
      if (data === undefined) continue;
      events.push({ id: field("id") ?? "", event: field("event") ?? "", data: JSON.parse(data) });
    }
    return events;
  }

  async untilComments(count: number): Promise<void> {
    while (this.#comments < count) await this.#block();
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#reader.cancel().catch(() => undefined);
  }

  /** A timed-out read stays pending for the next call. */
  async #within(ms: number | undefined): Promise<string | undefined> {
    this.#next ??= this.#block();
    const late = new Promise<undefined>((resolve) => {
      if (ms !== undefined) setTimeout(() => resolve(undefined), ms).unref();
    });
    const block = await Promise.race([this.#next, late]);
    if (block !== undefined) this.#next = undefined;
    return block;
  }

  async #block(): Promise<string> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        if (block.startsWith(":")) this.#comments++;
        return block;
      }
      const { done, value } = await this.#reader.read();
      if (done) throw new Error("the events have ended");
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }
}
