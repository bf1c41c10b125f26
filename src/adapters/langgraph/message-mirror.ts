/**
 * The messages of a thread as a session, so that they are searched and shown like any other. Written before
 * the checkpoint that has them: a message that a checkpoint holds is always found.
 */

import type { SessionApi } from "../../engine/interfaces/session-api.ts";
import type { TenantApi } from "../../engine/interfaces/tenant-api.ts";
import { BackscrollError } from "../../model/errors.ts";
import { MAX_BATCH_ENTRIES } from "../../model/limits.ts";
import type { Line } from "./keys.ts";
import { type Authors, isMessage, SOURCE, toBareInput, toEntryInput } from "./message-mapping.ts";

/** Threads whose sessions are known without asking. */
const KNOWN_SESSIONS = 1_000;

export class MessageMirror {
  readonly #tenant: TenantApi;
  readonly #channel: string;
  readonly #authors: Authors;
  readonly #sessions = new Map<string, SessionApi>();

  constructor(tenant: TenantApi, channel: string, authors: Authors) {
    this.#tenant = tenant;
    this.#channel = channel;
    this.#authors = authors;
  }

  /** Messages that a checkpoint has and its parent has not. Those of subgraphs are their own affair. */
  async add(
    { thread, ns }: Line,
    channel: string,
    values: readonly unknown[],
    checkpointId: string,
  ): Promise<void> {
    if (channel !== this.#channel || ns !== "") return;
    const messages = values.filter(isMessage);
    const inputs = messages.map((message, i) =>
      toEntryInput(message, this.#authors, `${checkpointId} ${i - messages.length}`),
    );
    for (let i = 0; i < inputs.length; i += MAX_BATCH_ENTRIES) {
      const batch = inputs.slice(i, i + MAX_BATCH_ENTRIES);
      await this.#inSession(thread, async (session) => {
        try {
          await session.appendEntries(batch, { existing: "replace" });
        } catch (error) {
          const isRefused =
            BackscrollError.is(error, "invalid_input") || BackscrollError.is(error, "too_large");
          if (!isRefused) throw error;
          // What is no message of ours is in the checkpoint, and only there.
          await session.appendEntries(batch.map(toBareInput), { existing: "replace" });
        }
      });
    }
  }

  async deleteThread(thread: string): Promise<void> {
    this.#sessions.delete(thread);
    const session = await this.#tenant.findSessionByOrigin(keyOf(thread));
    if (session !== undefined) await this.#tenant.session(session.id).delete();
  }

  async #inSession(thread: string, work: (session: SessionApi) => Promise<void>): Promise<void> {
    try {
      await work(await this.#session(thread));
    } catch (error) {
      if (!BackscrollError.is(error, "session_not_found")) throw error;
      // Another process has deleted it.
      this.#sessions.delete(thread);
      await work(await this.#session(thread));
    }
  }

  async #session(thread: string): Promise<SessionApi> {
    const known = this.#sessions.get(thread);
    if (known !== undefined) return known;
    const session = await this.#tenant.ensureSession({
      key: keyOf(thread),
      agent: this.#authors.agent,
      createdBy: this.#authors.user,
      origin: { source: SOURCE },
    });
    if (this.#sessions.size >= KNOWN_SESSIONS) this.#sessions.clear();
    this.#sessions.set(thread, session);
    return session;
  }
}

function keyOf(thread: string): string {
  return `${SOURCE}:${thread}`;
}
