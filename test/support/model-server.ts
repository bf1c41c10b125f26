/**
 * A scripted model behind OpenAI's chat protocol, on a loopback port.
 *
 * Requests come over HTTP through the real SDK. Answers are given in order; the last one is repeated.
 */

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ChatRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly model: string;
  readonly system: string;
  readonly user: string;
  /** All messages, as they came. */
  readonly messages: readonly ChatMessage[];
  /** The names of the offered tools. */
  readonly tools: readonly string[];
  /** Whether the answer is streamed. */
  readonly stream: boolean;
  /** The reasoning effort, if requested. */
  readonly reasoning: string | undefined;
}

export interface ChatMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

/** Handles one request. */
export type Answer = (request: ChatRequest, response: ServerResponse) => void | Promise<void>;

export interface ModelServer {
  readonly url: string;
  /** Requests, in order. */
  readonly requests: ChatRequest[];
  /** Replaces the scripted answers, and clears the recorded requests. */
  answer(...answers: readonly Answer[]): void;
  close(): Promise<void>;
}

export async function startModelServer(): Promise<ModelServer> {
  const requests: ChatRequest[] = [];
  let answers: readonly Answer[] = [];
  const server = createServer((incoming, response) => {
    const handle = async () => {
      const request = await readRequest(incoming);
      const answer = answers[Math.min(requests.length, answers.length - 1)];
      requests.push(request);
      await answer?.(request, response);
    };
    handle().catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    answer: (...next) => {
      answers = next;
      requests.length = 0;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** An ordinary answer. */
export function says(text: string, finishReason = "stop"): Answer {
  return (_, response) => sendJson(response, 200, completion({ content: text }, finishReason));
}

/** As `says`, with a text that depends on the request. */
export function saysOf(text: (request: ChatRequest) => string): Answer {
  return (request, response) =>
    sendJson(response, 200, completion({ content: text(request) }, "stop"));
}

/** A refusal, in the protocol's form. */
export function refuses(reason: string): Answer {
  return (_, response) =>
    sendJson(response, 200, completion({ content: null, refusal: reason }, "stop"));
}

export function failsWith(status: number, headers: Record<string, string> = {}): Answer {
  return (_, response) =>
    sendJson(response, status, { error: { message: "no", type: "x", code: null } }, headers);
}

export function sendsRaw(body: string, type = "application/json"): Answer {
  return (_, response) => {
    response.writeHead(200, { "content-type": type }).end(body);
  };
}

export function hangsUp(): Answer {
  return (_, response) => {
    response.destroy();
  };
}

/** Runs `meanwhile` before it answers. */
export function after(meanwhile: () => Promise<unknown>, then: Answer): Answer {
  return async (request, response) => {
    await meanwhile();
    await then(request, response);
  };
}

/** Never answers; the connection stays open until one side ends it. */
export function keepsSilent(): Answer {
  return () => undefined;
}

function completion(message: Record<string, unknown>, finishReason: string): object {
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_700_000_000,
    model: "test-model",
    choices: [
      { index: 0, message: { role: "assistant", ...message }, finish_reason: finishReason },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  };
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

async function readRequest(incoming: IncomingMessage): Promise<ChatRequest> {
  let text = "";
  for await (const part of incoming.setEncoding("utf8")) text += part;
  const { model, messages, tools, stream, ...rest } = JSON.parse(text) as {
    readonly model: string;
    readonly messages: readonly ChatMessage[];
    readonly tools?: readonly { readonly function: { readonly name: string } }[];
    readonly stream?: boolean;
    readonly reasoning_effort?: string;
  };
  const said = (role: string) =>
    messages
      .filter((message) => message.role === role)
      .map(({ content }) => toText(content))
      .join("\n");
  return {
    path: incoming.url ?? "",
    authorization: incoming.headers.authorization,
    model,
    system: said("system"),
    user: said("user"),
    messages,
    tools: (tools ?? []).map((tool) => tool.function.name),
    stream: stream ?? false,
    reasoning: rest.reasoning_effort,
  };
}

function toText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { readonly text?: string }) => part.text ?? "").join("\n");
}
