/**
 * Calls as OpenTelemetry spans: those of the library by their names, with their durations as a metric,
 * and beneath them those of the store, by the conventions for GenAI memory.
 *
 * Spans have no conversation content unless `content` asks for it, and of an error only its code.
 * Only this file has the conventions' names.
 */

import { BackscrollError } from "./model/errors.ts";
import type { Store } from "./store/store.ts";

export type AttributeValue = string | number;

/** The parts of `@opentelemetry/api`'s span and tracer that are used here. */
interface TelemetrySpan {
  setAttribute(name: string, value: AttributeValue): unknown;
  setStatus(status: { readonly code: number }): unknown;
  end(): void;
}

export interface TelemetryTracer {
  startActiveSpan<Result>(
    name: string,
    options: {
      readonly kind: number;
      readonly attributes: Readonly<Record<string, AttributeValue>>;
    },
    use: (span: TelemetrySpan) => Result,
  ): Result;
}

/** The part of a histogram that is used here. */
interface TelemetryHistogram {
  record(value: number, attributes: Readonly<Record<string, AttributeValue>>): void;
}

interface TraceOptions {
  /** Includes the queries. */
  readonly content: boolean;
  /** Whether the store is in this process or remote. */
  readonly kind: "internal" | "client";
}

/** Values of the API's enumerations. */
const KINDS = { internal: 0, client: 2 };
const STATUS_ERROR = 2;

const NAMES = {
  operation: "gen_ai.operation.name",
  /** The tenant: the isolation boundary of a search. */
  store: "gen_ai.memory.store.id",
  conversation: "gen_ai.conversation.id",
  record: "gen_ai.memory.record.id",
  count: "gen_ai.memory.record.count",
  query: "gen_ai.memory.query.text",
  error: "error.type",
};

/** `read_conversation` is ours: the conventions have no name for a page of messages. */
type Operation =
  | "search_memory"
  | "create_memory"
  | "upsert_memory"
  | "update_memory"
  | "delete_memory"
  | "read_conversation";

/** The known fields of a call. */
interface Call {
  readonly operation: Operation;
  readonly tenant: string;
  readonly conversation?: string | undefined;
  readonly record?: string;
  readonly count?: number;
  readonly query?: string;
}

export function traceStore(
  store: Store,
  tracer: TelemetryTracer,
  { content, kind }: TraceOptions,
): Store {
  const attributesOf = (call: Call): Record<string, AttributeValue> => {
    const all: Readonly<Record<string, AttributeValue | undefined>> = {
      [NAMES.operation]: call.operation,
      [NAMES.store]: call.tenant,
      [NAMES.conversation]: call.conversation,
      [NAMES.record]: call.record,
      [NAMES.count]: call.count,
      [NAMES.query]: content ? call.query : undefined,
    };
    const known = Object.entries(all).filter(([, value]) => value !== undefined);
    return Object.fromEntries(known) as Record<string, AttributeValue>;
  };
  const traced = <Result>(
    call: Call,
    run: () => Promise<Result>,
    countOf?: (result: Result) => number,
  ): Promise<Result> => {
    const options = { kind: KINDS[kind], attributes: attributesOf(call) };
    return tracer.startActiveSpan(call.operation, options, async (span) => {
      try {
        const result = await run();
        if (countOf !== undefined) span.setAttribute(NAMES.count, countOf(result));
        return result;
      } catch (error) {
        span.setAttribute(NAMES.error, errorType(error));
        span.setStatus({ code: STATUS_ERROR });
        throw error;
      } finally {
        span.end();
      }
    });
  };

  const calls: Partial<Store> = {
    search: (tenant, request, signal) =>
      traced(
        {
          operation: "search_memory",
          tenant,
          conversation: onlyOne(request.scope.session),
          query: request.query,
        },
        () => store.search(tenant, request, signal),
        ({ hits }) => hits.length,
      ),
    searchNotes: (tenant, request) =>
      traced(
        { operation: "search_memory", tenant, query: request.query },
        () => store.searchNotes(tenant, request),
        ({ notes }) => notes.length,
      ),
    readEntries: (tenant, query) =>
      traced(
        { operation: "read_conversation", tenant, conversation: query.sessionId },
        () => store.readEntries(tenant, query),
        ({ entries }) => entries.length,
      ),
    append: (tenant, request) => {
      const { sessionId: conversation, entries } = request;
      const call = { operation: "create_memory", tenant, conversation } as const;
      return traced({ ...call, count: entries.length }, () => store.append(tenant, request));
    },
    commitStream: (tenant, request) => {
      const { sessionId: conversation, id: record } = request;
      const call = { operation: "create_memory", tenant, conversation } as const;
      return traced({ ...call, record, count: 1 }, () => store.commitStream(tenant, request));
    },
    addFacts: (tenant, conversation, facts, now) =>
      traced({ operation: "create_memory", tenant, conversation, count: facts.length }, () =>
        store.addFacts(tenant, conversation, facts, now),
      ),
    putMemory: (tenant, memory) =>
      traced({ operation: "upsert_memory", tenant, record: memory.name, count: 1 }, () =>
        store.putMemory(tenant, memory),
      ),
    writeRecords: (tenant, request) =>
      traced({ operation: "upsert_memory", tenant, count: request.operations.length }, () =>
        store.writeRecords(tenant, request),
      ),
    retireFact: (tenant, record, by, now) =>
      traced({ operation: by === null ? "delete_memory" : "update_memory", tenant, record }, () =>
        store.retireFact(tenant, record, by, now),
      ),
    deleteMemory: (tenant, agent, record, now) =>
      traced({ operation: "delete_memory", tenant, record, count: 1 }, () =>
        store.deleteMemory(tenant, agent, record, now),
      ),
    eraseContent: (tenant, request) => {
      const { sessionId: conversation, entryIds } = request;
      const call = { operation: "delete_memory", tenant, conversation } as const;
      return traced({ ...call, count: entryIds.length }, () => store.eraseContent(tenant, request));
    },
    deleteSession: (tenant, conversation, reason, now, by) =>
      traced({ operation: "delete_memory", tenant, conversation }, () =>
        store.deleteSession(tenant, conversation, reason, now, by),
      ),
  };
  const { reader } = store;
  const own: Partial<Store> =
    reader === undefined
      ? calls
      : { ...calls, reader: traceStore(reader, tracer, { content, kind }) };
  return new Proxy(store, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function onlyOne(ids: readonly string[] = []): string | undefined {
  return ids.length === 1 ? ids[0] : undefined;
}

/** A code, or a class name: never a sentence, which may quote content. */
function errorType(error: unknown): string {
  if (BackscrollError.is(error)) return error.code;
  return error instanceof Error ? error.name : "_OTHER";
}

/** Methods without a span: they give a handle or a stream at once. */
const AT_ONCE: ReadonlySet<string> = new Set(["forTenant", "session", "subscribe", "recall"]);

const CALL = "backscroll.call";

/**
 * Makes each method of an engine, a tenant or a session a span with its failure, and a measurement of its
 * duration; so are the methods of the handles that it gives. `isHandle` says which results those are.
 */
export function traceCalls<Handle extends object>(
  handle: Handle,
  tracer: TelemetryTracer,
  durations: TelemetryHistogram,
  isHandle: (value: unknown) => value is object,
): Handle {
  const follow = (value: unknown): unknown =>
    isHandle(value) ? traceCalls(value, tracer, durations, isHandle) : value;
  const { id, tenant } = handle as { readonly id?: unknown; readonly tenant?: unknown };
  const about = {
    ...(typeof id === "string" ? { [NAMES.conversation]: id } : {}),
    ...(typeof tenant === "string" ? { [NAMES.store]: tenant } : {}),
  };
  for (const name of methodsOf(handle)) {
    const method = Reflect.get(handle, name) as (...args: unknown[]) => unknown;
    const call = (...args: unknown[]) => method.apply(handle, args);
    const timed = (span: TelemetrySpan, started: number, failure?: unknown) => {
      const failed = failure === undefined ? {} : { [NAMES.error]: errorType(failure) };
      if (failure !== undefined) {
        span.setAttribute(NAMES.error, errorType(failure));
        span.setStatus({ code: STATUS_ERROR });
      }
      durations.record((performance.now() - started) / 1000, { [CALL]: name, ...failed });
      span.end();
    };
    const options = { kind: KINDS.internal, attributes: { [CALL]: name, ...about } };
    const value = (...args: unknown[]) => {
      if (AT_ONCE.has(name)) return follow(call(...args));
      return tracer.startActiveSpan(`backscroll.${name}`, options, (span) => {
        const started = performance.now();
        try {
          const result = call(...args);
          if (!(result instanceof Promise)) {
            timed(span, started);
            return result;
          }
          return result.then(
            (settled) => {
              timed(span, started);
              return follow(settled);
            },
            (error: unknown) => {
              timed(span, started, error ?? "_OTHER");
              throw error;
            },
          );
        } catch (error) {
          timed(span, started, error ?? "_OTHER");
          throw error;
        }
      });
    };
    Object.defineProperty(handle, name, { value, configurable: true, writable: true });
  }
  return handle;
}

/** The names of the methods that a handle's classes define, without accessors. */
function methodsOf(handle: object): string[] {
  const names = new Set<string>();
  for (
    let type: object | null = Object.getPrototypeOf(handle);
    type !== null && type !== Object.prototype;
    type = Object.getPrototypeOf(type)
  ) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(type))) {
      if (typeof value === "function" && name !== "constructor") names.add(name);
    }
  }
  return [...names];
}

const API = "@opentelemetry/api";
const SCOPE = "backscroll";

interface TelemetryApi {
  readonly trace: { getTracer(name: string): TelemetryTracer };
  readonly metrics: {
    getMeter(name: string): {
      createHistogram(
        name: string,
        options: { readonly unit: string; readonly description: string },
      ): TelemetryHistogram;
    };
  };
}

interface LoadedTelemetry {
  readonly tracer: TelemetryTracer;
  readonly durations: TelemetryHistogram;
}

/**
 * Throws `invalid_input` with the way out if the package is not installed. `api` is the package's
 * name.
 */
export async function loadTelemetry(api: string = API): Promise<LoadedTelemetry> {
  let loaded: TelemetryApi;
  try {
    loaded = (await import(api)) as TelemetryApi;
  } catch (cause) {
    throw new BackscrollError(
      "invalid_input",
      `telemetry needs the package ${api}, which is not installed; run npm install ${api}, or leave telemetry out`,
      { details: { field: "telemetry" }, cause },
    );
  }
  const durations = loaded.metrics.getMeter(SCOPE).createHistogram("backscroll.call.duration", {
    unit: "s",
    description: "How long calls of the library took.",
  });
  return { tracer: loaded.trace.getTracer(SCOPE), durations };
}
