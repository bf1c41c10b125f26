/**
 * A session: the handle for writing and reading a conversation.
 *
 * It holds only the id, so two handles of one session, in one process or two, are equivalent. Hosts
 * may extend it: some documents define it as `ConversationResource`.
 */

import type { CompactionPlan } from "../compaction/plan.ts";
import type { Provider, RenderedContext } from "../context/render/render.ts";
import { fromModelResult, isModelResult, type ModelResult } from "../convert/ai-sdk.ts";
import type { Entry } from "../model/entry.ts";
import { BackscrollError } from "../model/errors.ts";
import { checkName, checkText } from "../model/ids.ts";
import { INPUTS } from "../model/inputs/index.ts";
import type { JsonValue } from "../model/json.ts";
import { MAX_TITLE_BYTES } from "../model/limits.ts";
import type { Mark } from "../model/mark.ts";
import type { Fact, Memory } from "../model/note.ts";
import { PAGINGS, type Paged, readPaged } from "../model/paged.ts";
import type { Session } from "../model/session.ts";
import type { SearchHit } from "../search/request.ts";
import { sessionNotFound } from "../store/store-errors.ts";
import type { ContentInput } from "../transcript/normalize.ts";
import { type AppendOptions, appendDrafts } from "./append.ts";
import { checkInput, checkKey } from "./check.ts";
import { type CompactionResult, compactSession, planSession } from "./compaction/compact.ts";
import type { CompactInput } from "./compaction/compact-options.ts";
import {
  listSummaries,
  type SummarizeOptions,
  type Summary,
  summarizeSession,
} from "./compaction/summarize.ts";
import { type BuiltContext, buildContext } from "./context/build-context.ts";
import type { BuildContextInput } from "./context/context-options.ts";
import { type Recalled, type RecallOptions, recall } from "./context/recall.ts";
import { type ContextUsage, readUsage } from "./context/usage.ts";
import { type EngineContext, forReading } from "./engine-context.ts";
import { extractFacts } from "./facts/extract-facts.ts";
import type { ExtractFactsOptions } from "./facts/extract-facts-options.ts";
import { addFacts, type FactInput, type ListFactsInput, listFacts } from "./facts/facts.ts";
import { type DeleteOptions, deleteSession, removeEntry, type Tombstone } from "./forget.ts";
import { type ForkInput, forkSession } from "./fork.ts";
import { claimLease } from "./leases/claim-lease.ts";
import type { HoldLeaseOptions, LeasedWork } from "./leases/hold-lease.ts";
import {
  type MarkInput,
  markSession,
  readMarks,
  type UnmarkInput,
  unmarkSession,
} from "./marks.ts";
import { putMemory } from "./memories.ts";
import {
  draftEntry,
  draftMessage,
  hasResults,
  type MessageInput,
  type MessageWithResults,
  type PlainMessage,
} from "./message-input.ts";
import {
  continueMessage,
  type MessageStream,
  type OpenMessageInput,
  openMessage,
} from "./message-stream.ts";
import {
  type Branch,
  type EntryListPage,
  getEntry,
  type HistoryInput,
  type ListEntriesInput,
  type ListMessagesInput,
  listEntries,
  listMessages,
  type MessagePage,
  readBranches,
  readHistory,
  readLabels,
} from "./read.ts";
import { applyRetention } from "./retention/apply-retention.ts";
import {
  type SearchInput,
  type SearchNotesInput,
  type SearchResult,
  searchMemory,
  searchSessions,
} from "./search.ts";
import { toSessionPatch, type UpdateSessionInput } from "./session-input.ts";
import { withParents } from "./sessions/nested.ts";
import { type AppendEntriesOptions, appendEntries } from "./writing/append-entries.ts";
import {
  type BranchInput,
  type CustomMessageInput,
  draftEntries,
  type EditInput,
  type EntryInput,
} from "./writing/entry-input.ts";
import { entryIds, getByExternalId } from "./writing/external-ids.ts";
import { type ReplaceSuffixInput, replaceSuffix } from "./writing/replace-suffix.ts";
import { branchSession, editMessage, replaceMessage } from "./writing/rewrite.ts";

export class SessionHandle {
  readonly id: string;
  readonly #engine: EngineContext;
  /** For read-only calls. */
  readonly #reading: EngineContext;

  constructor(engine: EngineContext, id: string) {
    this.#engine = engine;
    this.#reading = forReading(engine);
    this.id = id;
  }

  /** The session's fields; reads no entries. */
  async meta(): Promise<Session> {
    const { store, tenant } = this.#reading;
    const session = await store.findSession(tenant, this.id);
    if (session === undefined) throw sessionNotFound(this.id);
    const [shown] = await withParents(this.#reading, [session]);
    return shown as Session;
  }

  /** Appends one message and gives its entry; with tool results, all of its entries. */
  append(message: PlainMessage, options?: AppendOptions): Promise<Entry>;
  append(message: MessageWithResults, options?: AppendOptions): Promise<Entry[]>;
  /** Appends several, all or none. */
  append(messages: readonly MessageInput[], options?: AppendOptions): Promise<Entry[]>;
  /** Appends what a call of the AI SDK wrote, when it is complete: answers, calls and results. */
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
    const many = Array.isArray(input);
    const messages = (many ? input : [input]) as readonly MessageInput[];
    const now = this.#engine.now();
    const newId = entryIds(this.#engine, this.id);
    const drafts = messages.flatMap((message, i) =>
      draftMessage(message, newId, now, many ? `messages[${i}]` : "message"),
    );
    checkInput(options, "options", INPUTS["append.options"]);
    const entries = await appendEntries(this.#engine, this.id, drafts, options);
    return many || hasResults(input) ? entries : (entries[0] as Entry);
  }

  /**
   * Appends messages, extension states and injected texts atomically. An entry whose `externalId`
   * exists is kept, or replaced by a sibling, so the call is idempotent.
   */
  async appendEntries(
    entries: readonly EntryInput[],
    options: AppendEntriesOptions = {},
  ): Promise<Entry[]> {
    const drafts = draftEntries(entries, entryIds(this.#engine, this.id), this.#engine.now());
    checkInput(options, "options", INPUTS["appendEntries.options"]);
    return appendEntries(this.#engine, this.id, drafts, options);
  }

  /** The newest version of the entry with this external id; throws `entry_not_found`. */
  getByExternalId(externalId: string): Promise<Entry> {
    return getByExternalId(this.#engine, this.id, externalId);
  }

  /** Replaces the last entries of the active path by others, or by none, atomically. */
  replaceSuffix(input: ReplaceSuffixInput): Promise<Entry[]> {
    return replaceSuffix(this.#engine, this.id, input);
  }

  /** Starts a streamed message. */
  openMessage(input: OpenMessageInput): Promise<MessageStream> {
    return openMessage(this.#engine, this.id, input);
  }

  /** Continues a message that another process opened, by its `lease`. */
  continueMessage(id: string, lease: string): Promise<MessageStream> {
    return continueMessage(this.#engine, this.id, id, lease);
  }

  /** The newest messages of the active path, in order. */
  history(input: HistoryInput = {}): Promise<Entry[]> {
    return readHistory(this.#reading, this.id, input);
  }

  /** A page of messages along the active path, or along the path to `leaf`. */
  listMessages(input: ListMessagesInput = {}): Promise<Paged<MessagePage, Entry>> {
    return readPaged(PAGINGS.listMessages, input, (each) =>
      listMessages(this.#reading, this.id, each),
    );
  }

  /** A page of all entries: of a path, or of the whole tree. */
  listEntries(input: ListEntriesInput = {}): Promise<Paged<EntryListPage, Entry>> {
    return readPaged(PAGINGS.listEntries, input, (each) =>
      listEntries(this.#reading, this.id, each),
    );
  }

  /** One entry of this session; an open message has the status `pending`. */
  async getEntry(id: string): Promise<Entry> {
    const entry = await getEntry(this.#reading, id);
    if (entry.sessionId === this.id) return entry;
    throw new BackscrollError("entry_not_found", `session ${this.id} has no entry ${id}`, {
      details: { entryId: id, sessionId: this.id },
    });
  }

  /**
   * Makes `entryId` the active leaf (null: the root), so that the next append continues from there.
   * With a summary, a `branch_summary` records the abandoned branch.
   */
  branch(entryId: string | null, options: BranchInput = {}): Promise<void> {
    return branchSession(this.#engine, this.id, entryId, options);
  }

  /**
   * Removes a message or an extension's entry permanently: its content, its author, the facts taken
   * from it and the stored bytes of the session's files. A tombstone with its place and hash stays.
   */
  async removeEntry(entryId: string): Promise<Entry> {
    return removeEntry(this.#engine, await this.getEntry(entryId));
  }

  /** The branches of the session, the newest first. */
  branches(): Promise<Branch[]> {
    return readBranches(this.#reading, this.id);
  }

  /** Replaces a message by a new sibling; the old one's descendants stay on their branch. */
  async edit(entryId: string, content: ContentInput, options: EditInput = {}): Promise<Entry> {
    checkInput(options, "options", INPUTS.edit);
    return editMessage(this.#engine, await this.getEntry(entryId), content, options);
  }

  /** Replaces an old message by a new one, such as another answer, or after an abort. */
  async regenerate(
    entryId: string,
    message: MessageInput,
    options: AppendOptions = {},
  ): Promise<Entry> {
    const old = await this.getEntry(entryId);
    checkInput(options, "options", INPUTS["append.options"]);
    const [entry] = await replaceMessage(this.#engine, old, message, options);
    return entry as Entry;
  }

  /** Labels an entry; null removes the label. */
  async label(entryId: string, label: string | null): Promise<void> {
    await this.getEntry(entryId);
    const text = label === null ? null : checkText(label, "label", MAX_TITLE_BYTES);
    const data = { targetId: entryId, label: text };
    const engine = this.#engine;
    const draft = draftEntry({ kind: "label", blocks: [], data }, engine.newId(), engine.now());
    await appendDrafts(engine, this.id, [draft]);
  }

  /** The labels of the session's entries, by entry id. */
  labels(): Promise<Map<string, string>> {
    return readLabels(this.#reading, this.id);
  }

  /**
   * Marks a message, or the session, as wrong or as replaced by another, with a person's word. It
   * stays where it is, ranks below what holds, and carries the mark in hits, recaps, traces and
   * recalled excerpts.
   */
  mark(input: MarkInput): Promise<Mark> {
    return markSession(this.#engine, this.id, input);
  }

  /** Takes the mark of a message, or of the session, back. */
  unmark(input: UnmarkInput = {}): Promise<void> {
    return unmarkSession(this.#engine, this.id, input);
  }

  /** The marks that stand. */
  marks(): Promise<readonly Mark[]> {
    return readMarks(this.#reading, this.id);
  }

  /** Pins an entry: it is never summarised. */
  pin(entryId: string): Promise<void> {
    return this.#setPinned(entryId, true);
  }

  unpin(entryId: string): Promise<void> {
    return this.#setPinned(entryId, false);
  }

  /** Stores an extension's state at this point of the conversation. The model never sees it. */
  async appendCustom(type: string, data: JsonValue): Promise<Entry> {
    const [entry] = await this.appendEntries([{ kind: "custom", type, data }]);
    return entry as Entry;
  }

  /** Adds text for the model that is not a message; `display: false` hides it from users. */
  async appendCustomMessage(input: CustomMessageInput): Promise<Entry> {
    checkInput(input, "message", INPUTS.appendCustomMessage);
    const [entry] = await this.appendEntries([{ kind: "custom_message", ...input }]);
    return entry as Entry;
  }

  /** A new session that starts with a copy of this one's path. */
  async fork(input: ForkInput): Promise<SessionHandle> {
    const session = await forkSession(this.#engine, this.id, input);
    return new SessionHandle(this.#engine, session.id);
  }

  setTitle(title: string): Promise<Session> {
    return this.update({ title });
  }

  async update(input: UpdateSessionInput): Promise<Session> {
    const { store, tenant } = this.#engine;
    return store.updateSession(tenant, this.id, toSessionPatch(input), this.#engine.now());
  }

  /** A model-ready list of messages under a token budget, and the omitted ones. */
  buildContext<P extends Provider>(
    input: BuildContextInput & { readonly provider: P },
  ): Promise<BuiltContext & { readonly rendered: RenderedContext<P> }>;
  buildContext(input: BuildContextInput): Promise<BuiltContext>;
  buildContext(
    input: BuildContextInput,
  ): Promise<BuiltContext & { readonly rendered?: RenderedContext<Provider> }> {
    return buildContext(this.#reading, this.id, input);
  }

  /**
   * Summarises older messages into an entry that replaces them in contexts. They stay in the log,
   * unless the session's retention erases summarised messages.
   */
  compact(input: CompactInput = {}): Promise<CompactionResult> {
    return compactSession(this.#engine, this.id, input);
  }

  /** A dry run of `compact`: covered and kept entries; null if it would do nothing. */
  planCompaction(input: CompactInput = {}): Promise<CompactionPlan | null> {
    return planSession(this.#engine, this.id, input);
  }

  /**
   * Erases the content that compactions of the active path cover, by the session's retention.
   * `compact` does this itself; call it after a change of the retention.
   */
  applyRetention(): Promise<{ readonly erased: number }> {
    return applyRetention(this.#engine, this.id);
  }

  /** Writes a summary of the entries without one, up to `through`, without changing the context. */
  summarize(through?: string, options: SummarizeOptions = {}): Promise<Summary> {
    return summarizeSession(this.#engine, this.id, through, options);
  }

  /** Summaries of all branches: the newest 500. */
  summaries(): Promise<Summary[]> {
    return listSummaries(this.#reading, this.id);
  }

  /** The context's size and the session's total cost. */
  usage(leaf?: string): Promise<ContextUsage> {
    return readUsage(this.#reading, this.id, leaf);
  }

  /** Messages and facts that match a question, best first. Any text is a valid question. */
  recall(query: string, options: RecallOptions = {}): AsyncGenerator<Recalled, void> {
    return recall(this.#reading, this.id, query, options);
  }

  /** As `searchSessions` of the tenant, without this session. */
  searchOthers(query: string, input: SearchInput = {}): Promise<Paged<SearchResult, SearchHit>> {
    const { excludeSession = [] } = checkInput(input, "options", INPUTS.searchSessions);
    const others = typeof excludeSession === "string" ? [excludeSession] : excludeSession;
    const all = { ...input, excludeSession: [...others, this.id] };
    return readPaged(PAGINGS.searchSessions, all, (each) =>
      searchSessions(this.#reading, query, each),
    );
  }

  /** The memories of this session's agent. */
  async searchMemory(query: string, input: SearchNotesInput = {}): Promise<readonly Memory[]> {
    checkInput(input, "options", INPUTS["session.searchMemory"]);
    const { agent } = await this.meta();
    return searchMemory(this.#reading, query, { ...input, agent });
  }

  /** Stores a note of this session's agent, with its source. */
  async remember(name: string, content: string): Promise<Memory> {
    const { agent } = await this.meta();
    const metadata = { sessionId: this.id };
    return putMemory(this.#engine, { agent, name, content, metadata });
  }

  addFacts(facts: readonly FactInput[]): Promise<readonly Fact[]> {
    return addFacts(this.#engine, this.id, facts);
  }

  /**
   * Extracts facts from messages that no extraction has read, up to `through`, and gives the new
   * ones. Off unless the session's metadata has `facts: { enabled: true }`.
   */
  extractFacts(through?: string, options: ExtractFactsOptions = {}): Promise<readonly Fact[]> {
    return extractFacts(this.#engine, this.id, through, options);
  }

  listFacts(input: Omit<ListFactsInput, "sessionId"> = {}): Promise<readonly Fact[]> {
    return listFacts(this.#reading, { ...input, sessionId: this.id });
  }

  /** As `holdLease` of the engine, with a name scoped to this session. */
  async holdLease(name: string, options: HoldLeaseOptions, work: LeasedWork): Promise<void> {
    const own = JSON.stringify([this.#engine.tenant, this.id, checkName(name, "name")]);
    await claimLease(this.#engine, own, options, work);
  }

  /** Deletes the session and everything inside it. A tombstone with its hash stays. */
  delete(options: DeleteOptions = {}): Promise<Tombstone> {
    return deleteSession(this.#engine, this.id, options);
  }

  async #setPinned(entryId: string, pinned: boolean): Promise<void> {
    const { store, tenant } = this.#engine;
    const id = checkKey(entryId, "entryId");
    await store.setPinned(tenant, this.id, id, pinned, this.#engine.now());
  }
}
