/**
 * A model on loopback, for real clients: it speaks Anthropic's messages, OpenAI's responses and chat
 * completions and Google's generateContent, streamed. Its answers are scripted: while the newest user
 * message names a tool (`CALL tool {"argument": …}`), it calls that tool once and then answers.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface MockModel {
  readonly url: string;
  /** Tool results from clients, in order, as in the request. */
  readonly toolResults: string[];
  /** The body of every request that asked for an answer. */
  readonly requests: Body[];
  close(): Promise<void>;
}

export type Body = Record<string, unknown>;

type Answer =
  | { readonly kind: "text"; readonly text: string }
  | {
      readonly kind: "call";
      readonly id: string;
      readonly name: string;
      readonly namespace?: string;
      readonly args: string;
    };

export async function startMockModel(answerTo: (ask: string) => string): Promise<MockModel> {
  const toolResults: string[] = [];
  const requests: Body[] = [];
  const server: Server = createServer((request, response) => {
    void readJson(request).then((body) => {
      const path = new URL(request.url ?? "/", "http://localhost").pathname;
      const speak = dialectOf(path);
      if (speak === undefined || request.method !== "POST") return notFound(path, response);
      requests.push(body);
      const { ask, results, tools } = speak.read(body);
      const answer = decide(ask, results, tools, answerTo);
      if (results.length > 0 && answer.kind === "text") {
        toolResults.push(...results.filter(({ isTool }) => isTool).map(({ text }) => text));
      }
      speak.write(response, answer, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    toolResults,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Conversation {
  /** The newest user message that is not a tool result. */
  readonly ask: string;
  /** Results of tools since then. */
  readonly results: readonly Result[];
  readonly tools: readonly Named[];
}

interface Result {
  readonly text: string;
  /** Whether the result is the requested tool's, and not of the tool search. */
  readonly isTool: boolean;
}

interface Named {
  readonly name: string;
  /** Codex groups the tools of a server: a call names the group beside the tool. */
  readonly namespace?: string;
}

interface Dialect {
  read(body: Body): Conversation;
  write(response: ServerResponse, answer: Answer, body: Body): void;
}

/** The id prefix of tool-search calls. */
const FINDING = "call_find_";

/** The tool search of clients that list tools on demand. */
const FINDER = "ToolSearch";
/** The tool by which unlisted tools are called. */
const BRIDGE = "tool_call";

const CALL = /CALL (\w+) (\{.*?\})(?:\s|$)/s;

function decide(
  ask: string,
  results: readonly Result[],
  tools: readonly Named[],
  answerTo: (ask: string) => string,
): Answer {
  // Some clients quote the user's message.
  const [, name, args] = CALL.exec(ask.replaceAll('\\"', '"')) ?? [];
  if (name === undefined || args === undefined || results.some(({ isTool }) => isTool)) {
    return { kind: "text", text: answerTo(ask) };
  }
  const id = Date.now().toString(36);
  const tool = tools.find((each) => each.name.endsWith(name));
  if (tool !== undefined) return { kind: "call", id: `call_${id}`, ...tool, args };
  const whole = `mcp__backscroll__${name}`;
  const bridge = tools.find((each) => each.name === BRIDGE);
  if (bridge !== undefined) {
    const words = JSON.stringify({ name: whole, arguments: JSON.parse(args) as object });
    return { kind: "call", id: `call_${id}`, ...bridge, args: words };
  }
  const finder = tools.find((each) => each.name === FINDER);
  if (finder === undefined || results.length > 0) {
    return { kind: "text", text: `There is no tool ${name}.` };
  }
  const query = JSON.stringify({ query: `select:${whole}`, max_results: 5 });
  return { kind: "call", id: `${FINDING}${id}`, ...finder, args: query };
}

function dialectOf(path: string): Dialect | undefined {
  if (path.endsWith("/messages")) return anthropic;
  if (path.endsWith("/responses")) return responses;
  if (path.endsWith("/chat/completions")) return chat;
  if (path.includes(":streamGenerateContent") || path.includes(":generateContent")) return google;
  return undefined;
}

/** Clients also count tokens, list models and report events: any answer satisfies them. */
function notFound(path: string, response: ServerResponse): void {
  if (path.endsWith("/count_tokens") || path.includes(":countTokens")) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ input_tokens: 10, totalTokens: 10 }));
    return;
  }
  response.writeHead(404, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { type: "not_found_error", message: path } }));
}

const anthropic: Dialect = {
  read: ({ messages, tools }) => {
    const blocks: Body[] = list(messages).flatMap((message) =>
      toBlocks(message["content"]).map((block) => ({ ...block, role: message["role"] })),
    );
    return toConversation(
      blocks.map((block) => ({
        isAsk: block["role"] === "user" && block["type"] === "text",
        text: textOf(block),
        ...(block["type"] === "tool_result"
          ? { result: toText(block["content"]), id: block["tool_use_id"] }
          : {}),
      })),
      list(tools).map(({ name }) => ({ name: String(name) })),
    );
  },
  write: (response, answer, { model }) => {
    const usage = { input_tokens: 10, output_tokens: 10 };
    const block =
      answer.kind === "text"
        ? { type: "text", text: "" }
        : { type: "tool_use", id: answer.id, name: answer.name, input: {} };
    const delta =
      answer.kind === "text"
        ? { type: "text_delta", text: answer.text }
        : { type: "input_json_delta", partial_json: answer.args };
    const message = {
      id: `msg_${Date.now().toString(36)}`,
      type: "message",
      role: "assistant",
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    };
    const reason = answer.kind === "text" ? "end_turn" : "tool_use";
    const end = { stop_reason: reason, stop_sequence: null };
    stream(response, [
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: end, usage },
      { type: "message_stop" },
    ]);
  },
};

const responses: Dialect = {
  read: ({ input, tools }) =>
    toConversation(
      list(input).map((item) => ({
        isAsk: item["role"] === "user",
        text: toText(item["content"]),
        ...(item["type"] === "function_call_output" ? { result: toText(item["output"]) } : {}),
      })),
      list(tools).flatMap((tool): Named[] => {
        const name = String(tool["name"]);
        if (tool["type"] !== "namespace") return [{ name }];
        return list(tool["tools"]).map((each) => ({ name: String(each["name"]), namespace: name }));
      }),
    ),
  write: (response, answer) => {
    const id = `resp_${Date.now().toString(36)}`;
    const item =
      answer.kind === "text"
        ? {
            type: "message",
            role: "assistant",
            id: "msg_1",
            status: "completed",
            content: [{ type: "output_text", text: answer.text, annotations: [] }],
          }
        : {
            type: "function_call",
            id: "fc_1",
            call_id: answer.id,
            status: "completed",
            name: answer.name,
            arguments: answer.args,
            ...(answer.namespace === undefined ? {} : { namespace: answer.namespace }),
          };
    const usage = {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 20,
    };
    stream(response, [
      { type: "response.created", response: { id } },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { id, usage, output: [item] } },
    ]);
  },
};

const chat: Dialect = {
  read: ({ messages, tools }) =>
    toConversation(
      list(messages).flatMap((message): Piece[] =>
        message["role"] === "tool"
          ? [{ isAsk: false, text: "", result: toText(message["content"]) }]
          : toBlocks(message["content"]).map((block) => ({
              isAsk: message["role"] === "user",
              text: textOf(block),
            })),
      ),
      list(tools).map((tool) => ({
        name: String((tool["function"] as Body | undefined)?.["name"]),
      })),
    ),
  write: (response, answer, { model }) => {
    const chunk = (delta: object, reason: string | null) => ({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model,
      choices: [{ index: 0, delta, finish_reason: reason }],
    });
    const call = (answer: Answer & { kind: "call" }) => ({
      index: 0,
      id: answer.id,
      type: "function",
      function: { name: answer.name, arguments: answer.args },
    });
    const delta =
      answer.kind === "text"
        ? { role: "assistant", content: answer.text }
        : { role: "assistant", tool_calls: [call(answer)] };
    const reason = answer.kind === "text" ? "stop" : "tool_calls";
    stream(response, [chunk(delta, null), chunk({}, reason)], "data: [DONE]\n\n");
  },
};

const google: Dialect = {
  read: ({ contents, tools }) =>
    toConversation(
      list(contents).flatMap(({ role, parts }) =>
        list(parts).map((part) => ({
          isAsk: role === "user" && part["functionResponse"] === undefined,
          text: String(part["text"] ?? ""),
          ...(part["functionResponse"] === undefined
            ? {}
            : { result: JSON.stringify(part["functionResponse"]) }),
        })),
      ),
      list(tools).flatMap((tool) =>
        list(tool["functionDeclarations"]).map(({ name }) => ({ name: String(name) })),
      ),
    ),
  write: (response, answer) => {
    const part =
      answer.kind === "text"
        ? { text: answer.text }
        : { functionCall: { name: answer.name, args: JSON.parse(answer.args) as object } };
    const candidate = { content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 };
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 };
    stream(response, [{ candidates: [candidate], usageMetadata }]);
  },
};

interface Piece {
  readonly isAsk: boolean;
  readonly text: string;
  readonly result?: string;
  readonly id?: unknown;
}

/** Elements that clients put before the user's words, in the same message or one of their own. */
const REMINDERS = /^(\s*<([\w-]+)[^>]*>.*?<\/\2>)+\s*/s;

function toConversation(pieces: readonly Piece[], tools: readonly Named[]): Conversation {
  const isAsk = ({ isAsk: asks, text, result }: Piece) =>
    asks &&
    result === undefined &&
    !/^\s*(<|# AGENTS\.md|Tool loaded|$)/.test(text.replace(REMINDERS, ""));
  const at = pieces.findLastIndex(isAsk);
  const results = pieces.slice(at + 1).flatMap(({ result, id }) => {
    if (result === undefined) return [];
    return [{ text: result, isTool: !String(id).startsWith(FINDING) }];
  });
  return { ask: pieces[at]?.text ?? "", results, tools };
}

function stream(response: ServerResponse, events: readonly object[], end = ""): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) {
    const type = (event as { type?: string }).type;
    response.write(
      `${type === undefined ? "" : `event: ${type}\n`}data: ${JSON.stringify(event)}\n\n`,
    );
  }
  response.end(end);
}

function list(value: unknown): Body[] {
  return Array.isArray(value) ? (value as Body[]) : [];
}

function toBlocks(content: unknown): Body[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : list(content);
}

function textOf(block: Body): string {
  return typeof block["text"] === "string" ? block["text"] : "";
}

function toText(content: unknown): string {
  if (typeof content === "string") return content;
  return list(content).map(textOf).join("\n");
}

async function readJson(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks);
  try {
    return JSON.parse(raw.toString("utf8")) as Body;
  } catch {
    return {};
  }
}
