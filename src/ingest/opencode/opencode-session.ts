/**
 * A session of opencode, message by message: decides which steps are complete, and which are
 * postponed.
 */

import { KnownIds, toCustomEntry, toImportedEntry, toImportedSession } from "../drafts.ts";
import { type Fields, objectField, otherFields, textField, timeField } from "../fields.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession } from "../source.ts";
import type { OpencodeMessage } from "./opencode-message.ts";
import { FORMAT, isDone, splitSteps, toStepDrafts } from "./opencode-step.ts";
import { toUserDraft } from "./opencode-user.ts";

/** A step without writes for this long is complete. */
const QUIET_MS = 10 * 60 * 1000;

export class OpencodeSession {
  readonly #problems: ProblemLog;
  readonly #ids: KnownIds;
  readonly #postpone: (time: number) => void;
  /** The newest message: a following one shows that it is complete. */
  #newest: OpencodeMessage | undefined;

  constructor(problems: ProblemLog, postpone: (time: number) => void) {
    this.#problems = problems;
    this.#ids = new KnownIds(problems);
    this.#postpone = postpone;
  }

  *read(message: OpencodeMessage): Generator<ImportedEntry> {
    if (!this.#ids.isNew(message.id, [message.data, message.parts])) return;
    if (this.#newest !== undefined) yield* this.#give(this.#newest, true);
    this.#newest = message;
  }

  *end(): Generator<ImportedEntry> {
    const message = this.#newest;
    if (message === undefined) return;
    this.#newest = undefined;
    // Only an item with a write time can be postponed.
    const isLive = message.updatedAt > 0 && Date.now() - message.updatedAt < QUIET_MS;
    yield* this.#give(message, !isLive);
  }

  *#give(message: OpencodeMessage, isFollowed: boolean): Generator<ImportedEntry> {
    const { data } = message;
    const time = objectField(data, "time");
    const createdAt = timeField(time, "created");
    if (data["role"] === "user") {
      if (message.parts.length === 0 && !isFollowed) this.#postpone(message.updatedAt);
      else yield toImportedEntry(FORMAT, { ...toUserDraft(message), createdAt });
      return;
    }
    if (data["role"] !== "assistant") {
      const role = JSON.stringify(data["role"]) ?? "none";
      this.#problems.add("unexpected", `a message of the role ${role} was kept as custom data`);
      yield toCustomEntry(FORMAT, message.id, "message", otherFields(data, ["id"]), createdAt);
      return;
    }
    const isOver = isFollowed || time["completed"] !== undefined || data["error"] !== undefined;
    const steps = splitSteps(message);
    for (const [i, step] of steps.entries()) {
      if (!isOver && i === steps.length - 1 && !isDone(step)) {
        this.#postpone(message.updatedAt);
        return;
      }
      for (const draft of toStepDrafts(message, step, steps.length)) {
        yield toImportedEntry(FORMAT, { createdAt, ...draft });
      }
    }
  }
}

export function toOpencodeSession(
  session: Fields,
  messages: AsyncIterable<OpencodeMessage>,
  problems: ProblemLog,
  postpone: (time: number) => void,
): ImportedSession {
  const time = objectField(session, "time");
  const steps = new OpencodeSession(problems, postpone);
  async function* entries(): AsyncGenerator<ImportedEntry> {
    for await (const message of messages) yield* steps.read(message);
    yield* steps.end();
  }
  const known = ["id", "parentID", "directory", "title"];
  return {
    ...toImportedSession(FORMAT, {
      id: textField(session, "id") ?? null,
      parentSession: textField(session, "parentID") ?? null,
      cwd: textField(session, "directory") || null,
      title: textField(session, "title") || null,
      startedAt: timeField(time, "created"),
      fields: otherFields(session, known),
    }),
    entries: entries(),
    problems,
  };
}
