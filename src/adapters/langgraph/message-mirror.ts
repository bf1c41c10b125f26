/**
 * The messages of a thread as a session, for search and for people.
 *
 * Write ordering: messages are stored before the checkpoint that has them, so search finds every
 * message of a checkpoint.
 */

import type { TenantApi } from "../../engine/interfaces.ts";
import { MAX_BATCH_ENTRIES } from "../../model/limits.ts";
import { KnownSessions } from "../common/known-sessions.ts";
import { storeOrBare } from "../common/settle.ts";
import type { Line } from "./keys.ts";
import { type Authors, isMessage, SOURCE, toEntryInput } from "./message-mapping.ts";

export class MessageMirror {
  readonly #channel: string;
  readonly #authors: Authors;
  readonly #sessions: KnownSessions;

  constructor(tenant: TenantApi, channel: string, authors: Authors) {
    this.#channel = channel;
    this.#authors = authors;
    const { agent, user: createdBy } = authors;
    this.#sessions = new KnownSessions(tenant, { agent, createdBy, origin: { source: SOURCE } });
  }

  /** Adds the messages that a checkpoint has beyond its parent's. Subgraphs are skipped. */
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
      await this.#sessions.run(keyOf(thread), (session) =>
        // A message whose blocks are refused is whole in the checkpoint.
        storeOrBare(batch, (entries) => session.appendEntries(entries, { existing: "replace" })),
      );
    }
  }

  deleteThread(thread: string): Promise<void> {
    return this.#sessions.delete(keyOf(thread));
  }
}

function keyOf(thread: string): string {
  return `${SOURCE}:${thread}`;
}
