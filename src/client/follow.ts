/**
 * Follows the change feed, as server-sent events, across reconnects.
 *
 * Each change has its cursor. Reconnecting with it gives no gap and no repeat, also on another
 * server.
 */

import { fromWireError, type WireError } from "../api/error.ts";
import { fromWire, type WireOf } from "../api/shape.ts";
import type { ChangeListPage, ListChangesInput, SubscribeInput } from "../engine/subscribe.ts";
import { CHANGE, type Change } from "../model/change.ts";
import { BackscrollError } from "../model/errors.ts";
import { backOff, type Connection, pause } from "./connection.ts";
import { isPassing, lostConnection } from "./failure.ts";
import { at } from "./request.ts";

/** How long to wait for an unreachable server. */
const PATIENCE_MS = 120_000;

interface WirePage {
  readonly changes: readonly WireOf<typeof CHANGE>[];
  readonly next: string;
  readonly end: boolean;
}

export async function listChanges(
  connection: Connection,
  { session, ...query }: ListChangesInput,
): Promise<ChangeListPage> {
  const read = async (path: string) => {
    const page = await connection.call<WirePage>({ method: "GET", path, query });
    return { ...page, changes: page.changes.map((each) => fromWire(CHANGE, each)) };
  };
  if (session === undefined) return read("/v1/changes");
  try {
    return await read(at`/v1/sessions/${session}/changes`);
  } catch (error) {
    if (!BackscrollError.is(error, "session_not_found")) throw error;
    // A deleted session's changes are still in the tenant's feed.
    const { changes, ...place } = await read("/v1/changes");
    return { ...place, changes: changes.filter(({ sessionId }) => sessionId === session) };
  }
}

/** "From now" means from this call: later writes of this client are seen. */
export function follow(
  connection: Connection,
  input: SubscribeInput,
): AsyncGenerator<Change, void> {
  const { after, session, signal } = input;
  const start =
    after === undefined
      ? connection.hold(
          listChanges(connection, { after: "end", limit: 1 }).then(({ next }) => next),
        )
      : Promise.resolve(after);
  // A failure rejects the iteration; this avoids an unhandled rejection before it starts.
  start.catch(() => undefined);
  const ended = new AbortController();
  const changes = new Following(connection, session, [
    ended.signal,
    connection.closed,
    ...(signal === undefined ? [] : [signal]),
  ]).run(start);
  const finish = changes.return.bind(changes);
  // By default a generator's return waits for the pending change.
  changes.return = (value) => {
    ended.abort();
    return finish(value);
  };
  return changes;
}

class Following {
  readonly #connection: Connection;
  readonly #session: string | undefined;
  readonly #signal: AbortSignal;
  /** The session has no feed of its own: it was deleted, or never existed. */
  #fromTenant: boolean;
  #cursor = "";
  #isResumed = false;

  constructor(
    connection: Connection,
    session: string | undefined,
    signals: readonly AbortSignal[],
  ) {
    this.#connection = connection;
    this.#session = session;
    this.#signal = AbortSignal.any([...signals]);
    this.#fromTenant = session === undefined;
  }

  async *run(start: Promise<string>): AsyncGenerator<Change, void> {
    try {
      this.#cursor = await start;
    } catch (error) {
      if (this.#signal.aborted) return;
      throw error;
    }
    let goneSince: number | undefined;
    for (let attempt = 0; !this.#signal.aborted; attempt++) {
      try {
        for await (const change of this.#connected()) {
          attempt = 0;
          goneSince = undefined;
          yield change;
          if (this.#signal.aborted) return;
        }
        if (this.#signal.aborted) return;
        // The server ended the stream, as when it stops.
        throw lostConnection(this.#connection.address, new TypeError("it ended the answer"));
      } catch (error) {
        if (this.#signal.aborted) return;
        if (this.#canFollowTenant(error)) continue;
        goneSince ??= Date.now();
        if (!isPassing(error) || Date.now() - goneSince > PATIENCE_MS) throw error;
      }
      await pause(backOff(attempt), this.#signal);
    }
  }

  /** The changes of one connection. */
  async *#connected(): AsyncGenerator<Change, void> {
    const session = this.#session ?? "";
    const body = await this.#connection.stream({
      method: "GET",
      path: this.#fromTenant ? "/v1/changes" : at`/v1/sessions/${session}/changes`,
      query: { after: this.#cursor },
      headers: {
        accept: "text/event-stream",
        ...(this.#isResumed ? { "last-event-id": this.#cursor } : {}),
      },
      signal: this.#signal,
    });
    try {
      for await (const { type, data } of readEvents(body)) {
        if (type === "problem") throw fromWireError({ error: JSON.parse(data) } as WireError);
        const change = fromWire(CHANGE, JSON.parse(data) as WireOf<typeof CHANGE>);
        this.#cursor = change.cursor;
        this.#isResumed = true;
        if (this.#session === undefined || change.sessionId === this.#session) yield change;
      }
    } catch (error) {
      if (BackscrollError.is(error)) throw error;
      throw lostConnection(this.#connection.address, error);
    }
  }

  #canFollowTenant(error: unknown): boolean {
    if (this.#fromTenant || !BackscrollError.is(error, "session_not_found")) return false;
    this.#fromTenant = true;
    return true;
  }
}

interface ServerEvent {
  readonly type: string;
  readonly id: string;
  readonly data: string;
}

/** A server sends something at least every 15 seconds; after this long it counts as gone. */
const SILENCE_MS = 45_000;

/** Ends with the response. Throws a TypeError if the connection is lost or silent. */
async function* readEvents(
  body: ReadableStream<Uint8Array>,
  silenceMs: number = SILENCE_MS,
): AsyncGenerator<ServerEvent> {
  let type = "message";
  let id = "";
  let data: string[] = [];
  for await (const line of readLines(body, silenceMs)) {
    if (line === "") {
      if (data.length > 0) yield { type, id, data: data.join("\n") };
      type = "message";
      data = [];
      continue;
    }
    const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (name === "event") type = value;
    else if (name === "id") id = value;
    else if (name === "data") data.push(value);
  }
}

async function* readLines(
  body: ReadableStream<Uint8Array>,
  silenceMs: number,
): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await withDeadline(reader.read(), silenceMs);
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) yield line.replace(/\r$/, "");
    }
  } finally {
    // Close the connection when the reader stops; a broken one is closed already.
    await reader.cancel().catch(() => undefined);
  }
}

async function withDeadline<Result>(reading: Promise<Result>, ms: number): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new TypeError("the connection is silent")), ms);
  try {
    return await Promise.race([reading, promise]);
  } finally {
    clearTimeout(timer);
  }
}
