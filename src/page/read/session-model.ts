/** The model of an open session: messages, compactions, live changes. */

import { signal } from "@preact/signals";
import { BackscrollError, type RemoteEngine } from "../../client/index.ts";
import {
  type Branch,
  type Change,
  type Entry,
  type Mark,
  type Session,
  type Summary,
  tell,
} from "../data/connection.ts";
import { isReachable, mended } from "../data/reach.ts";
import { whenIdle } from "../parts/idle.ts";
import { lastSeenIn } from "./last-seen.ts";
import { MessagePages } from "./message-pages.ts";
import { Runs } from "./runs.ts";
import { SessionOutline } from "./session-outline.ts";
import { isRecord } from "./tool-call.ts";

/** The first page of the tenant's feed from its end: its cursor. */
const FEED_END = { after: "end", limit: 1 } as const;
/** The interval of reading a pending message again, in milliseconds. */
const PENDING_MS = 120;
/** The window in which changes are batched, in milliseconds. */
const GROW_MS = 30;
/** The delay before the cost and the outline of a growing session are read again, in milliseconds. */
const PRICE_MS = 2_000;
/** The delay before the feed is opened, in milliseconds: the messages are painted first. */
const AFTER_PAINT_MS = 50;
/** The delay of the read that closes the gap between the messages and the feed's cursor, in milliseconds. */
const GAP_MS = 500;
/** The delay before a failed feed is opened again, in milliseconds. */
const AGAIN_MS = 3_000;
/** A session written to within this time is being written, in milliseconds. */
const LIVE_MS = 300_000;
/** The limit of compactions that are shown in the session. */
const MAX_COMPACTIONS = 100;

export interface Sought {
  readonly text: string;
  readonly matches: ReadonlySet<number>;
}
export const NOTHING_SOUGHT: Sought = { text: "", matches: new Set() };

export class SessionModel {
  readonly session = signal<Session | undefined>(undefined);
  readonly failure = signal("");
  /** False while the feed is lost. */
  readonly isLive = signal(true);
  /** By the index of the message after them. */
  readonly compactions = signal<ReadonlyMap<number, readonly Summary[]>>(new Map());
  /** The newest first. */
  readonly subagents = signal<readonly Session[]>([]);
  /** Forks, and sessions that went on with its transcript. */
  readonly derived = signal<readonly Session[]>([]);
  /** The session that started it, if its own does not name one. */
  readonly parent = signal<Session | undefined>(undefined);
  /** What a person said of it and its messages. */
  readonly marks = signal<readonly Mark[]>([]);
  /** What its calls cost, in microdollars; 0 until known. */
  readonly cost = signal(0);
  readonly branches = signal<readonly Branch[]>([]);
  /** Pending messages, in the order in which they were opened. */
  readonly pending = signal<readonly Entry[]>([]);
  readonly pages: MessagePages;
  readonly runs: Runs;
  readonly outline: SessionOutline;
  /** The message at which its reader left it the last time; 0 if unknown. */
  readonly lastSeen: number;
  /** What is sought in the session, and the messages that contain it. */
  readonly sought = signal<Sought>(NOTHING_SOUGHT);
  readonly id: string;
  readonly leaf: string | undefined;
  readonly engine: RemoteEngine;
  readonly #ended = new AbortController();
  readonly #watched = new Set<string>();
  #growing: ReturnType<typeof setTimeout> | undefined;
  #pricing: ReturnType<typeof setTimeout> | undefined;
  #isPathNew = false;

  constructor(engine: RemoteEngine, id: string, leaf: string | undefined) {
    this.engine = engine;
    this.id = id;
    this.leaf = leaf;
    this.pages = new MessagePages(engine, id, leaf, (error) => this.#fail(error));
    this.lastSeen = lastSeenIn(id);
    this.runs = new Runs((index) => this.pages.get(index));
    this.outline = new SessionOutline(engine, id, leaf);
  }

  /** Resolves when the session and the number of its messages are known. */
  async open(at: string): Promise<{ readonly index: number | "elsewhere" | undefined }> {
    try {
      const [session, index] = await Promise.all([
        this.engine.getSessionMeta(this.id),
        at === "" ? this.#start() : this.pages.find(at).catch(() => this.#start()),
      ]);
      this.session.value = session;
      return { index };
    } catch (error) {
      this.#fail(error);
      return { index: undefined };
    } finally {
      this.#later(AFTER_PAINT_MS, () => void this.#follow());
    }
  }

  /** Whether an agent seems to be at work in it. */
  get isBeingWritten(): boolean {
    const written = this.session.value?.lastWriteAt ?? 0;
    return this.isLive.value && isReachable.value && Date.now() - written < LIVE_MS;
  }

  close(): void {
    this.#ended.abort();
    clearTimeout(this.#growing);
    clearTimeout(this.#pricing);
  }

  #later(ms: number, work: () => void): void {
    setTimeout(() => {
      if (!this.#ended.signal.aborted) work();
    }, ms);
  }

  async #start(): Promise<undefined> {
    await this.pages.load(0);
    return undefined;
  }

  /** Reads the data that the view can do without: branches, sub-agents, cost, outline, compactions. */
  async #learn(): Promise<void> {
    const { id } = this;
    const handle = this.engine.session(id);
    // The map and the counts of runs come after what can be read.
    whenIdle(() => void this.outline.reset().catch(() => undefined));
    const [summaries, branches] = await Promise.allSettled([
      handle.summaries(),
      handle.branches(),
      this.#readFamily(),
      this.#readCost(),
      this.#readMarks(),
    ]);
    if (branches.status === "fulfilled") this.branches.value = branches.value;
    if (summaries.status === "fulfilled") await this.#placeCompactions(summaries.value);
  }

  /** Its parent and its children. */
  async #readFamily(): Promise<void> {
    const parent = this.session.value?.metadata["parent"];
    const parentKey = isRecord(parent) ? parent["key"] : undefined;
    const [subagents, derived, above] = await Promise.all([
      this.#readChildren(true),
      this.#readChildren(false),
      typeof parentKey === "string" ? this.engine.findSessionByOrigin(parentKey) : undefined,
    ]);
    this.parent.value = above;
    this.subagents.value = subagents;
    this.derived.value = derived;
  }

  /** All of them: they are counted. */
  async #readChildren(subAgent: boolean): Promise<readonly Session[]> {
    const input = { parentSessionId: this.id, subAgent, limit: 500 };
    const children: Session[] = [];
    for await (const session of await this.engine.listSessions(input)) children.push(session);
    return children;
  }

  async #readCost(): Promise<void> {
    const { total } = await this.engine.stats({ session: this.id });
    this.cost.value = total.costMicroUsd;
  }

  async #readMarks(): Promise<void> {
    this.marks.value = await this.engine.session(this.id).marks();
  }

  /** Marks a message as wrong, or as replaced by the one with this index. */
  async mark(entryId: string, reason: string, index: number | undefined): Promise<void> {
    const by = index === undefined ? undefined : await this.pages.peek(index);
    if (index !== undefined && by === undefined) throw new Error(`There is no message #${index}.`);
    const replaced = by === undefined ? {} : { replacedBy: by.id };
    await this.engine.session(this.id).mark({ entryId, reason, ...replaced });
    await this.#readMarks();
  }

  async unmark(entryId: string): Promise<void> {
    await this.engine.session(this.id).unmark({ entryId });
    await this.#readMarks();
  }

  async #placeCompactions(summaries: readonly Summary[]): Promise<void> {
    const shown = summaries.filter(({ kind }) => kind === "compaction").slice(0, MAX_COMPACTIONS);
    const placed = new Map<number, Summary[]>();
    await Promise.all(
      shown.map(async (summary) => {
        const index = await this.#indexAfter(summary).catch(() => undefined);
        if (index === undefined) return;
        placed.set(index, [...(placed.get(index) ?? []), summary]);
      }),
    );
    this.compactions.value = placed;
  }

  /** Index of the first message that a summary does not cover. */
  async #indexAfter({ through }: Summary): Promise<number | undefined> {
    let entry = await this.engine.getEntry(through);
    // An annotation has no index: that of the message before it counts.
    for (let steps = 0; entry.index === null && entry.parentId !== null && steps < 20; steps++) {
      entry = await this.engine.getEntry(entry.parentId);
    }
    return entry.index === null ? undefined : entry.index + 1;
  }

  /** Reads the changes from the feed's end on, and what changed before it. */
  async #follow(): Promise<void> {
    const { signal: ended } = this.#ended;
    let stream = new AbortController();
    // The client waits longer and longer for a lost server; the page knows when it is back.
    const before = mended.peek();
    const end = mended.subscribe((count) => {
      if (count === before) return;
      this.isLive.value = false;
      stream.abort();
    });
    ended.addEventListener("abort", () => end());
    while (!ended.aborted) {
      try {
        const { next: after } = await this.engine.listChanges(FEED_END);
        if (ended.aborted) return;
        stream = new AbortController();
        const signal = AbortSignal.any([ended, stream.signal]);
        const changes = this.engine.subscribe({ session: this.id, after, signal });
        this.#catchUp();
        for await (const change of changes) this.#take(change);
        if (!stream.signal.aborted) return;
      } catch (error) {
        this.isLive.value = false;
        if (ended.aborted) return;
        const message = tell(error);
        if (BackscrollError.is(error, "unauthorized")) return;
        this.failure.value = message;
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  }

  /** Changes before the cursor are not in the stream: reads the messages again. */
  #catchUp(): void {
    if (this.isLive.value) {
      void this.#learn();
      this.#later(GAP_MS, () => void this.#refresh(this.pages.reset()));
    } else {
      this.isLive.value = true;
      this.#isPathNew = true;
      this.#growSoon();
    }
  }

  #take({ kind, entryId, details }: Change): void {
    switch (kind) {
      case "entry_appended":
        // The marks stay as they were if they cannot be read.
        if (details["kind"] === "label") this.#readMarks().catch(() => undefined);
        if (entryId !== null) this.#unwatch(entryId);
        this.#growSoon();
        return;
      case "message_opened":
      case "message_chunk":
        if (entryId !== null) this.#watch(entryId);
        return;
      case "message_aborted":
        if (entryId !== null) this.#unwatch(entryId);
        return;
      case "leaf_moved":
      case "entry_superseded":
      case "content_erased":
        this.#isPathNew = true;
        this.#growSoon();
        return;
      case "session_updated":
        this.#growSoon();
        return;
      case "session_deleted":
        // A read that is under way would restore the session, or report it as unknown.
        this.close();
        this.failure.value = "This session was deleted while you read it.";
        this.session.value = undefined;
        return;
    }
  }

  #growSoon(): void {
    this.#growing ??= setTimeout(() => {
      this.#growing = undefined;
      void this.#grow();
    }, GROW_MS);
  }

  async #grow(): Promise<void> {
    const isPathNew = this.#isPathNew;
    this.#isPathNew = false;
    await this.#refresh(isPathNew ? this.pages.reset() : this.pages.grow());
    if (isPathNew) await this.#learn();
    else this.#pricing ??= setTimeout(() => this.#priceAgain(), PRICE_MS);
  }

  #priceAgain(): void {
    this.#pricing = undefined;
    // The cost stays as it was if it cannot be read.
    this.#readCost().catch(() => undefined);
    this.outline.grow().catch(() => undefined);
  }

  /** Reads the session's metadata beside its messages. */
  async #refresh(messages: Promise<void>): Promise<void> {
    try {
      const [session] = await Promise.all([this.engine.getSessionMeta(this.id), messages]);
      if (this.#ended.signal.aborted) return;
      this.session.value = session;
      this.failure.value = "";
    } catch (error) {
      if (!this.#ended.signal.aborted) this.#fail(error);
    }
  }

  #watch(entryId: string): void {
    if (this.leaf !== undefined || this.#watched.has(entryId)) return;
    this.#watched.add(entryId);
    setTimeout(() => void this.#readPending(entryId), this.#isShown(entryId) ? PENDING_MS : 0);
  }

  async #readPending(entryId: string): Promise<void> {
    try {
      const entry = await this.engine.getEntry(entryId);
      if (!this.#watched.delete(entryId) || entry.status !== "pending") return;
      const others = this.pending.peek().filter(({ id }) => id !== entryId);
      const at = this.pending.peek().findIndex(({ id }) => id === entryId);
      this.pending.value = others.toSpliced(at === -1 ? others.length : at, 0, entry);
    } catch {
      // Committed or aborted meanwhile: the feed reports either.
      this.#watched.delete(entryId);
    }
  }

  #isShown(entryId: string): boolean {
    return this.pending.peek().some(({ id }) => id === entryId);
  }

  #unwatch(entryId: string): void {
    this.#watched.delete(entryId);
    if (!this.#isShown(entryId)) return;
    const drop = () => {
      this.pending.value = this.pending.peek().filter(({ id }) => id !== entryId);
    };
    // Shown until the stored message is loaded; the row would flicker otherwise.
    void this.pages.grow().then(drop, drop);
  }

  #fail(error: unknown): void {
    this.failure.value = BackscrollError.is(error, "session_not_found")
      ? "There is no such session here. It may have been deleted, or belong to another tenant."
      : tell(error);
  }
}
