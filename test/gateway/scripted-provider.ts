/**
 * A provider with its own window, over HTTP, with realistic faults: it refuses long requests in
 * varying words, breaks off, fails, and reports no or odd usage.
 */

import type { ServerResponse } from "node:http";
import type { Answer, ChatRequest } from "../support/model-server.ts";
import { streams } from "../support/streamed-answer.ts";

export interface Provider {
  /** Answers every request that comes. */
  readonly answer: Answer;
  readonly counts: Record<Behaviour, number>;
  /** Requests refused as too long, without those refused at random. */
  tooLong(): number;
}

export type Behaviour =
  | "answered"
  | "called"
  | "silent"
  | "broke"
  | "failed"
  | "overflowed"
  | "flushed"
  | "flush_failed";

const REFUSALS = [
  (tokens: number, window: number) => `prompt is too long: ${tokens} tokens > ${window} maximum`,
  (_: number, window: number) => `This model's maximum context length is ${window} tokens.`,
  () => "Your input exceeds the context window of this model.",
  () => "the request exceeds the available context size, try increasing it",
];

/** `random` gives numbers from 0 to 1; `spoken` makes the text of an answer. */
export function scriptedProvider(
  window: number,
  random: () => number,
  spoken: () => string,
): Provider {
  const counts: Record<Behaviour, number> = {
    answered: 0,
    called: 0,
    silent: 0,
    broke: 0,
    failed: 0,
    overflowed: 0,
    flushed: 0,
    flush_failed: 0,
  };
  let tooLong = 0;
  let flushes = 0;
  /** Requests that may be refused without being too long. */
  let large = 0;
  let serial = 0;
  const chance = (share: number) => random() < share;
  const did = (what: Behaviour) => {
    counts[what]++;
  };

  const refuse = (response: ServerResponse, tokens: number) => {
    did("overflowed");
    const words = REFUSALS[Math.floor(random() * REFUSALS.length)]?.(tokens, window);
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: words, type: "invalid_request_error" } }));
  };
  const fail = (response: ServerResponse, status: number) => {
    response.writeHead(status, { "content-type": "application/json", "retry-after": "0" });
    response.end(JSON.stringify({ error: { message: "try later", type: "server_error" } }));
  };

  const flush = (request: ChatRequest, response: ServerResponse) => {
    if (flushes++ % 3 === 0) {
      did("flush_failed");
      return fail(response, 400);
    }
    const isDone = request.messages.at(-1)?.role === "tool";
    if (isDone || chance(0.3)) {
      did("flushed");
      return streams({ text: ["NO_", "REPLY"] })(request, response);
    }
    const input = { name: `note-${serial % 7}`, content: `note ${serial}` };
    return streams({ calls: [{ id: `flush-${serial++}`, name: "remember", input }] })(
      request,
      response,
    );
  };

  return {
    counts,
    tooLong: () => tooLong,
    answer: (request, response) => {
      const tokens = tokensOf(request);
      if (chance(0.02)) {
        did("failed");
        return fail(response, 503);
      }
      if (tokens > window) tooLong++;
      // A context that cannot become smaller is not sent again, so its refusal would be final.
      const isRefused = tokens > 1_000 && ++large % 40 === 10;
      if (tokens > window || isRefused) return refuse(response, tokens);
      if (request.tools.includes("remember")) return flush(request, response);
      // Some providers count differently, and some report no usage.
      const input = Math.min(window, Math.ceil(tokens * (0.8 + random() * 0.5)));
      const usage = chance(0.1) ? undefined : { input, output: 40 };
      if (chance(0.03)) {
        did("broke");
        return streams({ text: ["Half of "], breaks: true })(request, response);
      }
      if (chance(0.05)) {
        did("silent");
        return streams({ text: ["NO", "_REPLY"], usage })(request, response);
      }
      if (chance(0.1) && request.messages.at(-1)?.role !== "tool") {
        did("called");
        const calls = [{ id: `call-${serial++}`, name: "look", input: { at: serial } }];
        return streams({ text: ["I look. "], calls, usage })(request, response);
      }
      did("answered");
      const words = spoken();
      const middle = Math.floor(words.length / 2);
      const text = [words.slice(0, middle), words.slice(middle)];
      return streams({ text, usage })(request, response);
    },
  };
}

/** As a provider that agrees with our estimate would count. */
export function tokensOf({ messages }: ChatRequest): number {
  return messages.reduce((sum, { content, tool_calls: calls = [] }) => {
    const text = typeof content === "string" ? content : content === null ? "" : textOf(content);
    return sum + Math.ceil(Buffer.byteLength(text) / 4) + calls.length * 10;
  }, 0);
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return "";
  return content.map((part: { readonly text?: string }) => part.text ?? "").join("");
}
