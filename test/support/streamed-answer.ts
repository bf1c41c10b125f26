/** Streamed answers of the model server, as server-sent events. */

import type { ServerResponse } from "node:http";
import type { Answer, ChatRequest } from "./model-server.ts";

export interface StreamedAnswer {
  /** The pieces of the text. */
  readonly text?: readonly string[];
  readonly calls?: readonly {
    readonly id: string;
    readonly name: string;
    readonly input: unknown;
  }[];
  readonly finishReason?: string;
  /** Left out: the server reports no usage. */
  readonly usage?: { readonly input: number; readonly output: number } | undefined;
  /** The connection breaks after the text. */
  readonly breaks?: boolean;
  /** Stalls after the text. */
  readonly hangs?: boolean;
}

/** A complete stream, unless an option breaks it. */
export function streams(answer: StreamedAnswer): Answer {
  return (_, response) => send(response, answer);
}

/** As `streams`, with an answer that depends on the request. */
export function streamsOf(answer: (request: ChatRequest) => StreamedAnswer): Answer {
  return (request, response) => send(response, answer(request));
}

/** The answer byte by byte, so that every chunk splits an event. */
export function streamsByteByByte(answer: StreamedAnswer): Answer {
  return async (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const byte of Buffer.from(events(answer).join(""))) response.write(Buffer.of(byte));
    response.end();
  };
}

function send(response: ServerResponse, answer: StreamedAnswer): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events(answer)) response.write(event);
  if (answer.hangs === true) return;
  if (answer.breaks === true) setImmediate(() => response.destroy());
  else response.end();
}

function events(answer: StreamedAnswer): string[] {
  const { text = [], calls = [], usage } = answer;
  const finish = answer.finishReason ?? (calls.length > 0 ? "tool_calls" : "stop");
  const deltas: object[] = text.map((content) => ({ content }));
  const toolCalls = calls.map(({ id, name, input }, index) => {
    const args = typeof input === "string" ? input : JSON.stringify(input);
    return { index, id, type: "function", function: { name, arguments: args } };
  });
  if (toolCalls.length > 0) deltas.push({ tool_calls: toolCalls });
  const whole = answer.breaks !== true && answer.hangs !== true;
  return [
    event([{ index: 0, delta: { role: "assistant" }, finish_reason: null }]),
    ...deltas.map((delta) => event([{ index: 0, delta, finish_reason: null }])),
    ...(whole ? [event([{ index: 0, delta: {}, finish_reason: finish }])] : []),
    ...(whole && usage !== undefined ? [event([], usage)] : []),
    ...(whole ? ["data: [DONE]\n\n"] : []),
  ];
}

function event(choices: object[], usage?: StreamedAnswer["usage"]): string {
  const body = {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "test-model",
    choices,
    ...(usage === undefined
      ? {}
      : {
          usage: {
            prompt_tokens: usage.input,
            completion_tokens: usage.output,
            total_tokens: usage.input + usage.output,
          },
        }),
  };
  return `data: ${JSON.stringify(body)}\n\n`;
}
