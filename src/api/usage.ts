/** Token counts on the wire. */

import type { Usage } from "../model/entry.ts";

export interface WireUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_creation_tokens: number;
  readonly cache_read_tokens: number;
}

export function toWireUsage(usage: Usage): WireUsage {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_creation_tokens: usage.cacheCreationTokens,
    cache_read_tokens: usage.cacheReadTokens,
  };
}

export function fromWireUsage(usage: WireUsage): Usage {
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cacheCreationTokens: usage.cache_creation_tokens,
    cacheReadTokens: usage.cache_read_tokens,
  };
}
