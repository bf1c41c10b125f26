/** Memories and facts of a remote tenant. */

import { fromWireFact, fromWireMemory, type WireFact, type WireMemory } from "../../api/note.ts";
import type { ListMemoriesInput, MemoryInput } from "../../engine/memories.ts";
import type { SearchFactsInput, SearchMemoryInput } from "../../engine/search.ts";
import type { Fact, Memory } from "../../model/note.ts";
import type { Connection } from "../connection.ts";
import { at, known, toBody, toQuery } from "../request.ts";

export async function putMemory(connection: Connection, input: MemoryInput): Promise<Memory> {
  const { agent, name, ...rest } = known("putMemory", input, "memory");
  const memory = await connection.call<WireMemory>({
    method: "PUT",
    path: at`/v1/memories/${agent}/${name}`,
    body: toBody(rest),
  });
  return fromWireMemory(memory);
}

export async function listMemories(
  connection: Connection,
  input: ListMemoriesInput,
): Promise<readonly Memory[]> {
  const { agent, after, limit } = known("listMemories", input);
  const { memories } = await connection.call<{ readonly memories: readonly WireMemory[] }>({
    method: "GET",
    path: "/v1/memories",
    query: toQuery({ agent, limit, afterAgent: after?.agent, afterName: after?.name }),
  });
  return memories.map(fromWireMemory);
}

export async function searchMemory(
  connection: Connection,
  query: string,
  input: SearchMemoryInput,
): Promise<readonly Memory[]> {
  const { memories } = await connection.call<{ readonly memories: readonly WireMemory[] }>({
    method: "POST",
    path: "/v1/memories/search",
    repeatable: true,
    body: toBody({ query, ...known("searchMemory", input) }),
  });
  return memories.map(fromWireMemory);
}

export async function searchFacts(
  connection: Connection,
  query: string,
  input: SearchFactsInput,
): Promise<readonly Fact[]> {
  const { facts } = await connection.call<{ readonly facts: readonly WireFact[] }>({
    method: "POST",
    path: "/v1/facts/search",
    repeatable: true,
    body: toBody({ query, ...known("searchFacts", input) }),
  });
  return facts.map(fromWireFact);
}
