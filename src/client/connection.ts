/**
 * Requests to one server, and their retries.
 *
 * A lost request may have been carried out. So only idempotent requests are retried: reads, and
 * writes under a key that the server recognises.
 */

import { backOffMs, withJitter } from "../async/pause.ts";
import {
  connectionClosed,
  isPassing,
  lostConnection,
  notOurs,
  stopped,
  timedOut,
  toError,
} from "./failure.ts";
import { RepeatedBody } from "./repeated-body.ts";
import type { QueryValue } from "./request.ts";

interface ConnectionOptions {
  readonly address: string;
  readonly token: string | undefined;
  readonly fetch: typeof fetch;
  /** For slow requests. */
  readonly patientFetch: typeof fetch;
  readonly timeoutMs: number;
  readonly retries: number;
}

export interface Call {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | RepeatedBody;
  /** A body other than JSON. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  /** Safe to repeat. GET requests, and writes with an idempotency key, always are. */
  readonly repeatable?: boolean;
  /** Without a timeout: a model call, or a scan of a whole store. */
  readonly slow?: boolean;
  readonly signal?: AbortSignal;
  /** Called when an answer was lost, before the request is repeated or abandoned. */
  readonly onLost?: () => void;
}

/** A longer `Retry-After` is not awaited. */
const MAX_WAIT_MS = 60_000;

export class Connection {
  readonly address: string;
  /** Messages to flush before the connection is closed. */
  readonly openMessages: Set<{ flush(): Promise<void> }> = new Set();
  readonly #options: ConnectionOptions;
  readonly #closed = new AbortController();
  readonly #held = new Set<Promise<unknown>>();

  constructor(options: ConnectionOptions) {
    this.address = options.address;
    this.#options = options;
  }

  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  close(): void {
    this.#closed.abort();
  }

  /** Writes of this client wait for `reading`, so that it sees the state before them. */
  hold<Result>(reading: Promise<Result>): Promise<Result> {
    const settled = reading.then(
      () => undefined,
      () => undefined,
    );
    this.#held.add(settled);
    void settled.then(() => this.#held.delete(settled));
    return reading;
  }

  /** The JSON of the answer; undefined if it has none. */
  call<Answer>(call: Call): Promise<Answer> {
    return this.#repeat(call, async (signal) => {
      const response = await this.#send(call, signal);
      if (response.status === 204) return undefined as Answer;
      const text = await response.text();
      try {
        return JSON.parse(text) as Answer;
      } catch {
        throw notOurs(this.address, "its answer is not JSON");
      }
    });
  }

  /** The bytes of the answer. */
  callBytes(call: Call): Promise<Uint8Array<ArrayBuffer>> {
    return this.#repeat(call, async (signal) => {
      const response = await this.#send(call, signal);
      return new Uint8Array(await response.arrayBuffer());
    });
  }

  /** An answer read as it arrives, until `call.signal` is aborted. */
  async stream(call: Call & { readonly signal: AbortSignal }): Promise<ReadableStream<Uint8Array>> {
    return (await this.open(call)).body;
  }

  /** The same with a prefix. */
  async open(
    call: Call & { readonly signal: AbortSignal },
  ): Promise<{ readonly headers: Headers; readonly body: ReadableStream<Uint8Array> }> {
    const { headers, body } = await this.#attempt({ ...call, slow: true }, (signal) =>
      this.#send(call, signal),
    );
    if (body === null) throw notOurs(this.address, "its answer is empty");
    return { headers, body };
  }

  async #repeat<Result>(
    call: Call,
    run: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    if (call.method !== "GET") await Promise.all(this.#held);
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(call, run);
      } catch (error) {
        if (!isPassing(error) || this.closed.aborted) throw error;
        call.onLost?.();
        const wanted = error.details["retryAfterMs"];
        const ms = Math.max(backOff(attempt), typeof wanted === "number" ? wanted : 0);
        const times = mayRepeat(call) ? this.#options.retries : 0;
        if (attempt >= times || ms > MAX_WAIT_MS) throw error;
        await pause(ms, call.signal, this.closed);
      }
    }
  }

  /** One attempt. Connection failures become coded errors. */
  async #attempt<Result>(
    call: Call,
    run: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const { timeoutMs } = this.#options;
    if (this.closed.aborted) throw connectionClosed();
    if (call.signal?.aborted) throw stopped(call.signal);
    const late = new AbortController();
    const timer = call.slow ? undefined : setTimeout(() => late.abort(), timeoutMs);
    const own = call.signal === undefined ? [] : [call.signal];
    try {
      return await run(AbortSignal.any([this.closed, late.signal, ...own]));
    } catch (error) {
      if (this.closed.aborted) throw connectionClosed();
      if (call.signal?.aborted) throw stopped(call.signal);
      if (late.signal.aborted) throw timedOut(this.address, timeoutMs);
      if (isTransport(error)) throw lostConnection(this.address, error);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #send(call: Call, signal: AbortSignal): Promise<Response> {
    const { fetch, patientFetch, token } = this.#options;
    const { method, body, bytes } = call;
    const send = call.slow ? patientFetch : fetch;
    const response = await send(this.address + call.path + search(call.query ?? {}), {
      method,
      signal,
      redirect: "error",
      headers: {
        accept: "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(typeof body === "string" ? { "content-type": "application/json" } : {}),
        ...(bytes === undefined ? {} : { "content-type": "application/octet-stream" }),
        ...call.headers,
      },
      ...(typeof body === "string" ? { body } : {}),
      ...(bytes === undefined ? {} : { body: bytes }),
      // Node and browsers require half-duplex to be stated: the body is sent before the answer is
      // read.
      ...(body instanceof RepeatedBody ? { body: body.open(), duplex: "half" } : {}),
    } as RequestInit);
    if (response.ok) return response;
    throw await toError(response, this.address);
  }
}

function mayRepeat({ method, headers = {}, body, repeatable }: Call): boolean {
  if (body instanceof RepeatedBody && !body.isRepeatable) return false;
  return repeatable ?? (method === "GET" || "idempotency-key" in headers);
}

function search(query: Readonly<Record<string, QueryValue>>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) params.append(name, String(value));
  }
  return params.size === 0 ? "" : `?${params}`;
}

/** Whether `fetch` threw because of the network: a TypeError, or the abort of a broken body. */
function isTransport(error: unknown): boolean {
  return error instanceof TypeError || (error as Error | null)?.name === "AbortError";
}

const FIRST_MS = 100;
const LONGEST_MS = 5_000;

export function backOff(attempt: number): number {
  return withJitter(backOffMs(attempt, FIRST_MS, LONGEST_MS));
}

/** Ends early if one of the signals is aborted. */
export async function pause(
  ms: number,
  ...signals: readonly (AbortSignal | undefined)[]
): Promise<void> {
  const given = signals.filter((signal) => signal !== undefined);
  if (given.some((signal) => signal.aborted)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  const timer = setTimeout(end, ms);
  for (const signal of given) signal.addEventListener("abort", end, { once: true });
  await promise;
  clearTimeout(timer);
  for (const signal of given) signal.removeEventListener("abort", end);
}
