/** A remote session: the names, arguments and results of `SessionHandle`. */

import {
  fromWireContext,
  fromWireRecalled,
  toWirePrune,
  type WireContext,
  type WireRecalled,
} from "../api/context.ts";
import { toWireEntryInput, toWireMessage } from "../api/message-input.ts";
import { SESSION_CALLS } from "../api/operations.ts";
import { fromWireSession, toWireFigures, type WireSession } from "../api/session.ts";
import { fromWire } from "../api/shape.ts";
import { toWireFields } from "../api/wire.ts";
import type { Provider, RenderedContext } from "../context/render/render.ts";
import { fromModelResult, isModelResult, type ModelResult } from "../convert/ai-sdk.ts";
import type { AppendOptions } from "../engine/append.ts";
import type { BuiltContext } from "../engine/context/build-context.ts";
import type { BuildContextInput } from "../engine/context/context-options.ts";
import type { Recalled, RecallOptions } from "../engine/context/recall.ts";
import type { ExtractedPart, ExtractFactsOptions } from "../engine/facts/extract-facts-options.ts";
import type { FactInput, ListFactsInput } from "../engine/facts/facts.ts";
import type { DeleteOptions, Tombstone } from "../engine/forget.ts";
import type { ForkInput } from "../engine/fork.ts";
import type { SessionApi, TenantApi } from "../engine/interfaces.ts";
import type { MessageInput, MessageWithResults, PlainMessage } from "../engine/message-input.ts";
import type { OpenMessageInput } from "../engine/message-stream.ts";
import type { ListMessagesInput, MessagePage } from "../engine/read.ts";
import type { SearchInput, SearchNotesInput, SearchResult } from "../engine/search.ts";
import type { UpdateSessionInput } from "../engine/session-input.ts";
import type { AppendEntriesOptions } from "../engine/writing/append-entries.ts";
import type { CustomMessageInput, EntryInput } from "../engine/writing/entry-input.ts";
import type { ReplaceSuffixInput } from "../engine/writing/replace-suffix.ts";
import type { Entry } from "../model/entry.ts";
import { ENTRY } from "../model/entry.ts";
import type { JsonObject, JsonValue } from "../model/json.ts";
import { FACT, type Fact, type Memory } from "../model/note.ts";
import type { Paged } from "../model/paged.ts";
import type { Session } from "../model/session.ts";
import type { Call, Connection } from "./connection.ts";
import { type CallsOf, callsOf } from "./plain-calls.ts";
import { continueMessage, openMessage, type RemoteMessage } from "./remote-message.ts";
import {
  at,
  checkBatchBody,
  invalid,
  keyHeader,
  known,
  leafHeader,
  refuseCode,
  toBody,
  toQuery,
  toTimes,
  toTimeText,
} from "./request.ts";

const PlainSession: CallsOf<SessionApi, typeof SESSION_CALLS> = callsOf<
  SessionApi,
  typeof SESSION_CALLS
>(SESSION_CALLS);

/** A session in another format. */
export interface ExportOptions {
  /** One of the names that `backscroll export --help` lists. */
  readonly format: string;
  /** A leaf other than the active one. */
  readonly leaf?: string;
  /** Leaves secrets unmasked. Default false. */
  readonly raw?: boolean;
  readonly signal?: AbortSignal;
}

export class RemoteSession extends PlainSession implements SessionApi {
  readonly id: string;
  readonly #tenant: TenantApi;

  constructor(connection: Connection, tenant: TenantApi, id: string) {
    super(connection, { sessionId: id });
    this.#tenant = tenant;
    this.id = id;
  }

  meta(): Promise<Session> {
    return this.#tenant.getSessionMeta(this.id);
  }

  append(message: PlainMessage, options?: AppendOptions): Promise<Entry>;
  append(message: MessageWithResults, options?: AppendOptions): Promise<Entry[]>;
  append(messages: readonly MessageInput[], options?: AppendOptions): Promise<Entry[]>;
  append(result: ModelResult, options?: AppendOptions): Promise<Entry[]>;
  append(
    input: MessageInput | readonly MessageInput[],
    options?: AppendOptions,
  ): Promise<Entry | Entry[]>;
  async append(
    input: MessageInput | readonly MessageInput[] | ModelResult,
    options: AppendOptions = {},
  ): Promise<Entry | Entry[]> {
    if (isModelResult(input)) return this.append(await fromModelResult(input), options);
    const { expectedLeaf, parent, idempotencyKey } = known("append.options", options);
    const many = Array.isArray(input);
    const messages = (many ? input : [input]) as readonly MessageInput[];
    const answer = await this.#call("POST", "messages", {
      headers: { ...keyHeader(idempotencyKey), ...leafHeader(expectedLeaf) },
      body: checkBatchBody(toBody({ messages: messages.map(toWire), parent })),
    });
    const appended = entriesOf(answer);
    const isOne = !many && ((input as MessageInput).toolResults ?? null) === null;
    return isOne ? (appended[0] as Entry) : appended;
  }

  async appendEntries(
    entries: readonly EntryInput[],
    options: AppendEntriesOptions = {},
  ): Promise<Entry[]> {
    const place = known("appendEntries.options", options);
    const { expectedLeaf, idempotencyKey, parent, existing } = place;
    const answer = await this.#call("POST", "entries/batch", {
      headers: { ...keyHeader(idempotencyKey), ...leafHeader(expectedLeaf) },
      body: checkBatchBody(
        toBody({ entries: toWireEntries(entries, "entries"), parent, existing }),
      ),
    });
    return entriesOf(answer);
  }

  async replaceSuffix(input: ReplaceSuffixInput): Promise<Entry[]> {
    const { expected, replacement, key } = known("replaceSuffix", input);
    const answer = await this.#call("POST", "suffix", {
      headers: keyHeader(key),
      body: checkBatchBody(
        toBody({ expected, replacement: toWireEntries(replacement, "replacement") }),
      ),
    });
    return entriesOf(answer);
  }

  openMessage(input: OpenMessageInput): Promise<RemoteMessage> {
    return openMessage(this.connection, this.id, input);
  }

  async continueMessage(id: string, lease: string): Promise<RemoteMessage> {
    return continueMessage(this.connection, await this.getEntry(id), lease);
  }

  listMessages(input: ListMessagesInput = {}): Promise<Paged<MessagePage, Entry>> {
    return this.#tenant.listMessages(this.id, input);
  }

  async regenerate(
    entryId: string,
    message: MessageInput,
    options: AppendOptions = {},
  ): Promise<Entry> {
    const { expectedLeaf, idempotencyKey } = known("append.options", options);
    const entry = await this.#call("POST", at`entries/${entryId}/regenerate`, {
      headers: { ...keyHeader(idempotencyKey), ...leafHeader(expectedLeaf) },
      body: toBody({ message: toWire(message) }),
    });
    return fromWire(ENTRY, entry);
  }

  async labels(): Promise<Map<string, string>> {
    const { labels } = await this.#call<{ readonly labels: Record<string, string> }>(
      "GET",
      "labels",
    );
    return new Map(Object.entries(labels));
  }

  async appendCustom(type: string, data: JsonValue): Promise<Entry> {
    const body = toBody({ kind: "custom", type, data });
    return fromWire(ENTRY, await this.#call("POST", "entries", { body }));
  }

  async appendCustomMessage(input: CustomMessageInput): Promise<Entry> {
    const body = toBody({
      kind: "custom_message",
      ...known("appendCustomMessage", input, "message"),
    });
    return fromWire(ENTRY, await this.#call("POST", "entries", { body }));
  }

  async fork(input: ForkInput): Promise<RemoteSession> {
    const { idempotencyKey, startedAt, ...rest } = known("fork", input, "fork");
    const { id } = await this.#call<WireSession>("POST", "fork", {
      headers: keyHeader(idempotencyKey),
      body: toBody({ ...rest, ...toTimes({ startedAt }) }),
    });
    return new RemoteSession(this.connection, this.#tenant, id);
  }

  setTitle(title: string): Promise<Session> {
    return this.update({ title });
  }

  async update(input: UpdateSessionInput): Promise<Session> {
    const { figures, ...rest } = known("update", input, "update");
    if (figures === undefined) {
      return fromWireSession(await this.#call("PATCH", "", { body: toBody(rest) }));
    }
    // Figures of ingested files have their own route.
    const { title, metadata, ...others } = rest;
    if (Object.keys(others).length > 0) await this.update(others);
    const updated = await this.connection.call<WireSession>({
      // Figures are set, not added: the call is idempotent.
      method: "PATCH",
      path: at`/v1/ingest/sessions/${this.id}`,
      repeatable: true,
      body: toBody({ title, metadata, figures: toWireFigures(figures) }),
    });
    return fromWireSession(updated);
  }

  buildContext<P extends Provider>(
    input: BuildContextInput & { readonly provider: P },
  ): Promise<BuiltContext & { readonly rendered: RenderedContext<P> }>;
  buildContext(input: BuildContextInput): Promise<BuiltContext>;
  async buildContext(
    input: BuildContextInput,
  ): Promise<BuiltContext & { readonly rendered?: RenderedContext<Provider> }> {
    const { prune, ...options } = known("buildContext", input);
    const pruning = prune === undefined ? {} : { prune: toWirePrune(prune) };
    const { rendered, ...context } = await this.#call<
      WireContext & { readonly rendered: RenderedContext<Provider> | null }
    >("POST", "context", { body: toBody({ ...options, ...pruning }), repeatable: true });
    return { ...fromWireContext(context), ...(rendered === null ? {} : { rendered }) };
  }

  async *recall(query: string, options: RecallOptions = {}): AsyncGenerator<Recalled, void> {
    const { items } = await this.#call<{ readonly items: readonly WireRecalled[] }>(
      "POST",
      "recall",
      { body: toBody({ query, ...known("recall", options) }), repeatable: true },
    );
    for (const item of items) yield fromWireRecalled(item);
  }

  searchOthers(
    query: string,
    input: SearchInput = {},
  ): Promise<Paged<SearchResult, SearchResult["hits"][number]>> {
    const { excludeSession = [] } = known("searchSessions", input);
    const others = typeof excludeSession === "string" ? [excludeSession] : excludeSession;
    return this.#tenant.searchSessions(query, { ...input, excludeSession: [...others, this.id] });
  }

  async searchMemory(query: string, input: SearchNotesInput = {}): Promise<readonly Memory[]> {
    known("session.searchMemory", input);
    const { agent } = await this.meta();
    return this.#tenant.searchMemory(query, { ...input, agent });
  }

  async remember(name: string, content: string): Promise<Memory> {
    const { agent } = await this.meta();
    const metadata = { sessionId: this.id };
    return this.#tenant.putMemory({ agent, name, content, metadata });
  }

  async addFacts(facts: readonly FactInput[]): Promise<readonly Fact[]> {
    const wire = facts.map((fact) => {
      return toWireFields(known("addFacts", fact, "fact") as unknown as JsonObject);
    });
    const added = await this.#call("POST", "facts", { body: toBody({ facts: wire }) });
    return fromWire({ facts: [FACT] }, added).facts;
  }

  async extractFacts(
    through?: string,
    options: ExtractFactsOptions = {},
  ): Promise<readonly Fact[]> {
    refuseCode(known("extractFacts", options), ["extractor", "redact"]);
    const { signal, onPart, model } = options;
    const answer = await this.#call<{ readonly parts: ExtractedPart[] }>("POST", "facts/extract", {
      body: toBody({ through, model }),
      slow: true,
      ...(signal === undefined ? {} : { signal }),
    });
    for (const part of answer.parts) onPart?.(part);
    return fromWire({ facts: [FACT] }, answer).facts;
  }

  listFacts(input: Omit<ListFactsInput, "sessionId"> = {}): Promise<readonly Fact[]> {
    return this.#tenant.listFacts({ ...input, sessionId: this.id });
  }

  /** The session in another format, as a stream. */
  export({
    signal = new AbortController().signal,
    ...query
  }: ExportOptions): Promise<ReadableStream<Uint8Array>> {
    const path = at`/v1/sessions/${this.id}/export`;
    const headers = { accept: "*/*" };
    return this.connection.stream({ method: "GET", path, query: toQuery(query), headers, signal });
  }

  delete(options: DeleteOptions = {}): Promise<Tombstone> {
    return this.#tenant.deleteSession(this.id, options);
  }

  /** A request below this session's path. */
  #call<Answer>(
    method: Call["method"],
    path: string,
    rest: Omit<Call, "method" | "path"> = {},
  ): Promise<Answer> {
    const below = path === "" ? "" : `/${path}`;
    return this.connection.call({ method, path: at`/v1/sessions/${this.id}` + below, ...rest });
  }
}

function entriesOf(answer: unknown): Entry[] {
  return [...fromWire({ entries: [ENTRY] }, answer).entries];
}

function toWire(message: MessageInput): Record<string, unknown> {
  return toWireMessage(known("append", message, "message"), toTimeText);
}

function toWireEntries(entries: readonly EntryInput[], field: string): Record<string, unknown>[] {
  if (!Array.isArray(entries)) throw invalid(field, `${field} must be an array`);
  return entries.map((entry: EntryInput, i) => {
    const what = `${field}[${i}]`;
    if (entry?.kind === "custom") known("appendEntries.custom", entry, what);
    else if (entry?.kind === "custom_message") known("appendEntries.customMessage", entry, what);
    else {
      const { kind: _, ...message } = Object(entry) as EntryInput;
      known("append", message, what);
    }
    return toWireEntryInput(entry, toTimeText);
  });
}
