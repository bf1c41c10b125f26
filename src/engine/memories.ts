/** Memories: small named notes of an agent. */

import { checkName } from "../model/ids.ts";
import { INPUTS } from "../model/inputs/index.ts";
import type { JsonObject } from "../model/json.ts";
import { MAX_MEMORY_BYTES } from "../model/limits.ts";
import type { Memory } from "../model/note.ts";
import { memoryNotFound } from "../store/store-errors.ts";
import {
  checkInput,
  checkKey,
  checkLimit,
  checkMetadata,
  checkObject,
  invalid,
  tooLarge,
} from "./check.ts";
import type { EngineContext } from "./engine-context.ts";

export interface MemoryInput {
  readonly agent: string;
  readonly name: string;
  /** At most 8 KiB: a memory is always returned whole. */
  readonly content: string;
  readonly metadata?: JsonObject;
}

export interface ListMemoriesInput {
  readonly agent?: string;
  /** The last memory of the previous page, as it was given. */
  readonly after?: Pick<Memory, "agent" | "name">;
  readonly limit?: number;
}

/** Writes a note, replacing one of the same name. */
export async function putMemory(engine: EngineContext, input: MemoryInput): Promise<Memory> {
  checkInput(input, "memory", INPUTS.putMemory);
  if (typeof input.content !== "string" || input.content === "") {
    throw invalid("content", "content must be a non-empty string");
  }
  const bytes = Buffer.byteLength(input.content);
  if (bytes > MAX_MEMORY_BYTES) {
    throw tooLarge("content in bytes", MAX_MEMORY_BYTES, bytes, "split it into several memories");
  }
  return engine.store.putMemory(engine.tenant, {
    agent: checkName(input.agent, "agent"),
    name: checkName(input.name, "name"),
    content: input.content,
    metadata: checkMetadata(input.metadata ?? {}),
    now: engine.now(),
  });
}

export async function getMemory(
  engine: EngineContext,
  agent: string,
  name: string,
): Promise<Memory> {
  checkKey(agent, "agent");
  const memory = await engine.store.findMemory(engine.tenant, agent, checkKey(name, "name"));
  if (memory === undefined) throw memoryNotFound(agent, name);
  return memory;
}

export async function listMemories(
  engine: EngineContext,
  input: ListMemoriesInput,
): Promise<readonly Memory[]> {
  const { agent, after } = checkInput(input, "options", INPUTS.listMemories);
  if (after !== undefined) {
    checkKey(checkObject(after, "after").agent, "after.agent");
    checkKey(after.name, "after.name");
  }
  return engine.store.listMemories(engine.tenant, agent, after, checkLimit(input.limit));
}

export async function deleteMemory(
  engine: EngineContext,
  agent: string,
  name: string,
): Promise<void> {
  checkKey(agent, "agent");
  checkKey(name, "name");
  await engine.store.deleteMemory(engine.tenant, agent, name, engine.now());
}
