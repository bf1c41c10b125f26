/**
 * The change feed as server-sent events, and counts of its followers: current, maximum and dropped
 * ones.
 *
 * Back-pressure: changes are read as the reader takes them, so a slow reader costs no memory; a
 * stalled one is dropped. Each event's id is its cursor: reconnecting with `Last-Event-ID` gives no
 * gap and no repeat.
 */

import { toWire } from "../api/shape.ts";
import type { TenantEngine } from "../engine/tenant-engine.ts";
import { CHANGE, type Change } from "../model/change.ts";
import { ENTRY } from "../model/entry.ts";
import { BackscrollError } from "../model/errors.ts";
import { MAX_FOLLOWERS, MAX_TENANT_FOLLOWERS } from "../model/limits.ts";

/** Limits of open event streams. */
export interface FollowerLimits {
  readonly perTenant: number;
  readonly perProcess: number;
}

interface LiveOptions {
  readonly heartbeatMs?: number;
  readonly stallMs?: number;
  /** Default: 100 per tenant and 1,000 in all. */
  readonly followers?: FollowerLimits;
}

const HEARTBEAT_MS = 15_000;
const STALL_MS = 30_000;
const FOLLOWERS: FollowerLimits = { perTenant: MAX_TENANT_FOLLOWERS, perProcess: MAX_FOLLOWERS };
/** Streams last: a place is seldom free after a second. */
const RETRY_MS = 10_000;

export class Subscribers {
  readonly #heartbeatMs: number;
  readonly #stallMs: number;
  readonly #limits: FollowerLimits;
  readonly #byTenant = new Map<string, number>();
  readonly #reading: EventStreamOptions["reading"] = new Map();
  #open = 0;
  #dropped = 0;

  constructor(options: LiveOptions = {}) {
    this.#heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS;
    this.#stallMs = options.stallMs ?? STALL_MS;
    this.#limits = options.followers ?? FOLLOWERS;
  }

  get count(): number {
    return this.#open;
  }

  /** Dropped stalled readers. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Interval of heartbeats and of re-authentication, in milliseconds. */
  get heartbeatMs(): number {
    return this.#heartbeatMs;
  }

  /**
   * Counts a follower until the returned function is called. Throws `rate_limited` at the tenant's
   * limit, `store_busy` at the server's.
   */
  enter(tenant: string): () => void {
    const own = this.#byTenant.get(tenant) ?? 0;
    const { perTenant, perProcess } = this.#limits;
    if (own >= perTenant) throw tooMany("rate_limited", "the tenant", perTenant);
    if (this.#open >= perProcess) throw tooMany("store_busy", "the server", perProcess);
    this.#byTenant.set(tenant, own + 1);
    this.#open++;
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#open--;
      const left = (this.#byTenant.get(tenant) ?? 1) - 1;
      if (left === 0) this.#byTenant.delete(tenant);
      else this.#byTenant.set(tenant, left);
    };
  }

  /** Counts a subscriber, as `enter` does, until its stream has ended in any way. */
  open(
    tenant: string,
    cutOff: () => void,
  ): Pick<EventStreamOptions, "heartbeatMs" | "stallMs" | "reading" | "onDrop" | "onEnd"> {
    const leave = this.enter(tenant);
    return {
      heartbeatMs: this.#heartbeatMs,
      stallMs: this.#stallMs,
      reading: this.#reading,
      onDrop: () => {
        this.#dropped++;
        cutOff();
      },
      onEnd: leave,
    };
  }
}

function tooMany(code: "rate_limited" | "store_busy", whose: string, limit: number) {
  return new BackscrollError(
    code,
    `${whose} has ${limit} streams of events open; close one, or read /v1/changes page by page`,
    { details: { limit, retryAfterMs: RETRY_MS } },
  );
}

interface EventStreamOptions {
  readonly session?: string;
  /** The cursor of the last change seen. Default: from now on. */
  readonly after?: string;
  /** Sends the appended entry along with its change. */
  readonly includeEntries: boolean;
  readonly heartbeatMs: number;
  /** How long a reader may stall while data waits. */
  readonly stallMs: number;
  readonly signal: AbortSignal;
  /** Events whose entry is being read, by cursor: followers of a change share one read. */
  readonly reading: Map<string, Promise<string>>;
  readonly onDrop: () => void;
  /** Called once, at the end of the stream. */
  readonly onEnd: () => void;
}

const ENTRY_KINDS: ReadonlySet<Change["kind"]> = new Set(["entry_appended", "message_chunk"]);

/** The stream's high-water mark, in bytes. */
const AHEAD_BYTES = 64 * 1024;

export function eventStream(
  tenant: TenantEngine,
  options: EventStreamOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, options.signal]);
  let wanted = Promise.withResolvers<void>();
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const send = (text: string) => controller.enqueue(encoder.encode(text));
        const hasRoom = () => (controller.desiredSize ?? 0) > 0;
        const heartbeat = setInterval(() => {
          if (hasRoom()) send(": still here\n\n");
        }, options.heartbeatMs);
        heartbeat.unref();
        const ready = async () => {
          while (!hasRoom() && !signal.aborted) {
            wanted = Promise.withResolvers<void>();
            await withDeadline(wanted.promise, options.stallMs, signal);
          }
        };
        send("retry: 1000\n\n");
        void follow(tenant, options, signal, ready, send)
          .then(() => controller.close())
          .catch((error: unknown) => {
            // A reader that left has already closed it.
            if (ended.signal.aborted) return;
            if (error !== STALLED) return controller.error(error);
            controller.close();
            options.onDrop();
          })
          .finally(() => {
            clearInterval(heartbeat);
            options.onEnd();
          });
      },
      pull: () => wanted.resolve(),
      cancel: () => ended.abort(),
    },
    { highWaterMark: AHEAD_BYTES, size: (chunk) => chunk.byteLength },
  );
}

const STALLED = new Error("the reader takes nothing");

async function follow(
  tenant: TenantEngine,
  options: EventStreamOptions,
  signal: AbortSignal,
  ready: () => Promise<void>,
  send: (text: string) => void,
): Promise<void> {
  const { session, after } = options;
  const changes = tenant.subscribe({
    ...(session === undefined ? {} : { session }),
    ...(after === undefined ? {} : { after }),
    signal,
  });
  try {
    for await (const change of changes) {
      await ready();
      if (signal.aborted) return;
      send(
        options.includeEntries ? await withEntry(tenant, change, options.reading) : eventOf(change),
      );
    }
  } catch (error) {
    // After the first byte an error cannot be a status: send it as an event without an id, so that
    // a reconnect continues after the last change.
    if (!BackscrollError.is(error)) throw error;
    const { code, message } = error;
    send(`event: problem\ndata: ${JSON.stringify({ code, message })}\n\n`);
  }
}

function eventOf(change: Change, more: object = {}): string {
  const data = JSON.stringify({ ...toWire(CHANGE, change), ...more });
  return `id: ${change.cursor}\nevent: ${change.kind}\ndata: ${data}\n\n`;
}

function withEntry(
  tenant: TenantEngine,
  change: Change,
  reading: EventStreamOptions["reading"],
): Promise<string> {
  const known = reading.get(change.cursor);
  if (known !== undefined) return known;
  const event = entryOf(tenant, change)
    .then((entry) => eventOf(change, { entry }))
    .finally(() => reading.delete(change.cursor));
  reading.set(change.cursor, event);
  return event;
}

/** Its current state: it may have changed since, or be deleted. */
async function entryOf(tenant: TenantEngine, change: Change): Promise<object | null> {
  if (change.entryId === null || !ENTRY_KINDS.has(change.kind)) return null;
  try {
    return toWire(ENTRY, await tenant.getEntry(change.entryId));
  } catch (error) {
    if (BackscrollError.is(error, "entry_not_found")) return null;
    throw error;
  }
}

async function withDeadline(wanted: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(STALLED), ms);
  const stop = () => resolve();
  signal.addEventListener("abort", stop, { once: true });
  wanted.then(resolve, reject);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

/** Calls `onEnd` once: after the last chunk, when the stream fails, or when its reader cancels it. */
export function whenEnded(
  body: ReadableStream<Uint8Array>,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  return passOn(body.getReader(), onEnd);
}

/**
 * Ends a long response when its caller's access ends.
 *
 * A request is authenticated at its start, but an event stream may last for days. So access is
 * checked again periodically, and the stream ends when the token is revoked or expired. A reconnect
 * gets the reason. `admitAgain` throws `unauthorized` or `forbidden` if the caller would be refused
 * now; an unavailable store is no refusal.
 */
export function whileAdmitted(
  body: ReadableStream<Uint8Array>,
  admitAgain: () => Promise<unknown>,
  everyMs: number,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const timer = setInterval(() => {
    admitAgain().catch((error: unknown) => {
      if (!isRefusal(error)) return;
      clearInterval(timer);
      reader.cancel(error).catch(() => undefined);
    });
  }, everyMs);
  timer.unref();
  return passOn(reader, () => clearInterval(timer));
}

function isRefusal(error: unknown): boolean {
  return BackscrollError.is(error, "unauthorized") || BackscrollError.is(error, "forbidden");
}

function passOn(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
        } catch (error) {
          onEnd();
          throw error;
        }
        onEnd();
        controller.close();
      },
      async cancel(reason) {
        onEnd();
        await reader.cancel(reason);
      },
    },
    // No read-ahead: the body itself bounds its buffer.
    { highWaterMark: 0 },
  );
}
