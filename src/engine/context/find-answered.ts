/** The message that a context is built to answer; a compaction may cover it. */

import type { Entry } from "../../model/entry.ts";
import { entryNotFound } from "../../store/store-errors.ts";
import { invalid } from "../check.ts";
import type { EngineContext } from "../engine-context.ts";
import { findAll } from "./standing.ts";

/** Searches the read entries first. Undefined if no message was named. */
export async function findAnswered(
  engine: EngineContext,
  sessionId: string,
  read: readonly Entry[],
  id: string | undefined,
): Promise<Entry | undefined> {
  if (id === undefined) return undefined;
  const message = read.find((entry) => entry.id === id) ?? (await findAll(engine, [id]))[0];
  if (message?.sessionId !== sessionId) throw entryNotFound(id, sessionId);
  const { kind, role, status } = message;
  if (kind === "message" && role === "user" && status === "committed") return message;
  throw invalid("replyTo", `replyTo must name a message of a user; ${id} is none`);
}
