/** LangGraph's own serializer, loaded with the first value unless the caller gives another. */

import { BackscrollError } from "../../model/errors.ts";
import type { Serializer } from "./sdk-types.ts";

/** An optional peer: only callers of this adapter have it. */
const PACKAGE: string = "@langchain/langgraph-checkpoint";

export function lazySerializer(): Serializer {
  let loading: Promise<Serializer> | undefined;
  const load = () => (loading ??= loadSerializer());
  return {
    dumpsTyped: async (value) => (await load()).dumpsTyped(value),
    loadsTyped: async (type, bytes) => (await load()).loadsTyped(type, bytes),
  };
}

async function loadSerializer(): Promise<Serializer> {
  try {
    const { MemorySaver } = (await import(PACKAGE)) as {
      readonly MemorySaver: new () => { readonly serde: Serializer };
    };
    return new MemorySaver().serde;
  } catch (cause) {
    throw new BackscrollError(
      "invalid_input",
      `${PACKAGE} cannot be loaded; install it, or give serde: new MemorySaver().serde`,
      { details: { field: "serde" }, cause },
    );
  }
}
