/** LangGraph's own package, an optional peer: only callers of this adapter have it. */

import type { Serializer } from "./sdk-types.ts";

export const PEER: string = "@langchain/langgraph-checkpoint";

interface Peer {
  readonly MemorySaver: new () => { readonly serde: Serializer };
  readonly InvalidNamespaceError: new (message: string) => Error;
}

/** Rejects where it is not installed. */
export async function loadPeer(): Promise<Peer> {
  return (await import(PEER)) as Peer;
}
