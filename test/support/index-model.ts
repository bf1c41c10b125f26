/**
 * An in-memory store behind the index's port, for tests of the index alone.
 *
 * It keeps the whole history, so that it is also the oracle of a test.
 */

import type { Role } from "../../src/model/entry.ts";
import type {
  Answers,
  FeedEntry,
  FeedSession,
  Manifest,
  Need,
  SessionPath,
  Window,
} from "../../src/search/port.ts";
import { EMPTY_MANIFEST } from "../../src/search/port.ts";

export interface ModelMessage {
  readonly session: number;
  readonly sequence: number;
  readonly role: Role;
  readonly actor: string | null;
  readonly text: string;
  readonly time: number;
}

type Event =
  | { readonly kind: "message"; readonly message: ModelMessage }
  | { readonly kind: "session" | "moved"; readonly session: number }
  | { readonly kind: "deleted"; readonly session: number }
  | {
      readonly kind: "erased";
      readonly session: number;
      readonly from: number;
      readonly to: number;
    };

export interface ModelSession {
  title: string;
  summary: string;
  agent: string;
  project: string | null;
  startedAt: number;
  /** The last sequence on the active path. */
  activeThrough: number;
  messages: ModelMessage[];
}

export class IndexModel {
  readonly sessions: Map<number, ModelSession> = new Map();
  readonly blobs: Map<string, Uint8Array> = new Map();
  manifest: Manifest = EMPTY_MANIFEST;
  /** The number of reads, by kind. */
  readonly asked: Map<string, number> = new Map();
  readonly #events: Event[] = [];
  #lastSession = 0;

  createSession(
    options: Partial<
      Pick<ModelSession, "title" | "summary" | "agent" | "project" | "startedAt">
    > = {},
  ): number {
    const session = ++this.#lastSession;
    this.sessions.set(session, {
      title: "",
      summary: "",
      agent: "agent",
      project: null,
      startedAt: Date.UTC(2026, 0, 1),
      activeThrough: Number.POSITIVE_INFINITY,
      messages: [],
      ...options,
    });
    this.#events.push({ kind: "session", session });
    return session;
  }

  update(session: number, patch: Partial<Pick<ModelSession, "title" | "summary">>): void {
    Object.assign(this.sessions.get(session) as ModelSession, patch);
    this.#events.push({ kind: "session", session });
  }

  append(session: number, role: Role, text: string, more: Partial<ModelMessage> = {}): void {
    const { messages } = this.sessions.get(session) as ModelSession;
    const sequence = messages.length + 1;
    const time = Date.UTC(2026, 0, 1) + this.#events.length * 1_000;
    const message = { session, sequence, role, text, actor: null, time, ...more };
    messages.push(message);
    this.#events.push({ kind: "message", message });
  }

  /** Moves the leaf back to `through`: later messages are off the active path. */
  cut(session: number, through: number): void {
    (this.sessions.get(session) as ModelSession).activeThrough = through;
    this.#events.push({ kind: "moved", session });
  }

  /** Erases the text of messages, as retention does. */
  erase(session: number, from: number, to: number): void {
    const known = this.sessions.get(session) as ModelSession;
    known.messages = known.messages.map((message) =>
      message.sequence < from || message.sequence > to ? message : { ...message, text: "" },
    );
    this.#events.push({ kind: "erased", session, from, to });
  }

  delete(session: number): void {
    this.sessions.delete(session);
    this.#events.push({ kind: "deleted", session });
  }

  readonly answer = (need: Need): Answers[keyof Answers] => {
    this.asked.set(need.need, (this.asked.get(need.need) ?? 0) + 1);
    switch (need.need) {
      case "manifest":
        return this.manifest;
      case "feed":
        return this.#feed(need.after, need.limit);
      case "blobs":
        return need.keys.map(
          ({ segment, blob }) => this.blobs.get(`${segment}/${blob}`) ?? "missing",
        );
      case "write":
        for (const { blob, bytes } of need.blobs) this.blobs.set(`${need.segment}/${blob}`, bytes);
        return undefined;
      case "swap": {
        if (this.manifest.version !== need.expected) return false;
        this.manifest = need.manifest;
        return true;
      }
      case "paths":
        return need.sessions.flatMap((session) => this.#path(session));
      case "scope":
        return Uint32Array.from(
          [...this.sessions].flatMap(([number, session]) => {
            const { agent, project } = need.scope;
            if (agent !== undefined && !agent.includes(session.agent)) return [];
            if (project !== undefined && !project.includes(session.project ?? "")) return [];
            return [number];
          }),
        ).sort();
      case "sessionCount":
        return this.sessions.size;
      case "windows":
        return need.windows.map(({ session, sequence, before, after }) =>
          this.#window(session, sequence, before, after),
        );
      case "yield":
        return undefined;
    }
  };

  #feed(after: number, limit: number): Answers["feed"] {
    const through = Math.min(this.#events.length, after + limit);
    const events = this.#events.slice(after, through);
    const entries: FeedEntry[] = [];
    const sessions = new Map<number, FeedSession>();
    for (const [i, event] of events.entries()) {
      const position = after + i + 1;
      const session = this.sessions.get(
        event.kind === "message" ? event.message.session : event.session,
      );
      if (session === undefined) continue;
      if (event.kind === "message") {
        const now = session.messages[event.message.sequence - 1];
        if (now !== undefined && !this.#isErased(now)) entries.push(toEntry(now, position));
      }
      if (event.kind === "session") {
        const { title, summary, agent, project, startedAt } = session;
        sessions.set(event.session, {
          position,
          session: event.session,
          title,
          summary,
          agent,
          startedAt,
          projectPath: project,
          machineMade: false,
        });
      }
    }
    return {
      through,
      head: this.#events.length,
      entries,
      sessions: [...sessions.values()],
      memories: [],
      facts: [],
      deleted: events.flatMap((event, i) =>
        event.kind === "deleted"
          ? [{ session: event.session, at: 0, position: after + i + 1 }]
          : [],
      ),
      erased: events.flatMap((event, i) =>
        event.kind === "erased" && this.sessions.has(event.session)
          ? [
              {
                session: event.session,
                from: event.from,
                to: event.to,
                at: 0,
                position: after + i + 1,
              },
            ]
          : [],
      ),
      touched: events.map((event) =>
        event.kind === "message" ? event.message.session : event.session,
      ),
    };
  }

  #isErased({ session, sequence }: ModelMessage): boolean {
    return this.#events.some(
      (event) =>
        event.kind === "erased" &&
        event.session === session &&
        sequence >= event.from &&
        sequence <= event.to,
    );
  }

  #path(session: number): SessionPath[] {
    const known = this.sessions.get(session);
    if (known === undefined) return [];
    const isWhole = known.activeThrough === Number.POSITIVE_INFINITY;
    return [{ session, isWhole, ranges: [{ chain: 1, maxDepth: known.activeThrough }] }];
  }

  #window(session: number, sequence: number, before: number, after: number): Window | undefined {
    const known = this.sessions.get(session);
    if (known === undefined) return undefined;
    const at = Math.max(0, sequence - 1);
    return {
      head: {
        sessionId: `s${session}`,
        shortId: `s${session}`,
        title: known.title,
        agent: known.agent,
        place: "place",
        speaker: "ana",
        createdAt: known.startedAt,
        updatedAt: known.startedAt,
        messageCount: known.messages.length,
        active: null,
        lateLeaves: [],
        marks: [],
      },
      leaf: null,
      entries: known.messages.slice(Math.max(0, at - before), at + after + 1).map((message) => ({
        id: `s${session}m${message.sequence}`,
        sequence: message.sequence,
        index: message.sequence - 1,
        role: message.role,
        actor: message.actor,
        createdAt: message.time,
        copiedFrom: null,
        blocks: [{ type: "text", text: message.text }],
        erased: this.#isErased(message),
        truncated: false,
      })),
    };
  }
}

function toEntry(message: ModelMessage, position: number): FeedEntry {
  const { session, sequence, role, actor, text, time } = message;
  return {
    position,
    session,
    sequence,
    role,
    actor,
    chain: 1,
    depth: sequence,
    kind: "message",
    status: "committed",
    createdAt: time,
    metadata: null,
    blocks: [{ type: "text", text }],
  };
}
