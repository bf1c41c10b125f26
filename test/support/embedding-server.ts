/**
 * A server with OpenAI's `/v1/embeddings` on a loopback port.
 *
 * Its vectors are bags of words: each word is a fixed direction, and synonyms in `CONCEPTS` share one, so
 * paraphrases have close vectors.
 */

import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export const DIMENSIONS = 64;

const CONCEPTS: readonly (readonly string[])[] = [
  ["cat", "kitten", "feline"],
  ["sleeps", "naps", "dozes"],
  ["car", "automobile", "vehicle"],
  ["broken", "faulty", "defective"],
  ["payment", "invoice", "billing"],
  ["slow", "sluggish", "laggy"],
  ["database", "postgres", "storage"],
];

const CONCEPT_OF = new Map(CONCEPTS.flatMap((words) => words.map((word) => [word, words[0]])));

/** A bag of words, of length 1. */
export function vectorOf(text: string, dimensions: number = DIMENSIONS): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [""]) {
    let state = hashOf(CONCEPT_OF.get(word) ?? word);
    for (let i = 0; i < dimensions; i++) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      vector[i] = (vector[i] as number) + state / 2 ** 31 - 1;
    }
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

function hashOf(word: string): number {
  let hash = 2_166_136_261;
  for (const unit of word) hash = Math.imul(hash ^ (unit.codePointAt(0) ?? 0), 16_777_619) >>> 0;
  return hash;
}

export interface EmbeddingRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly model: string;
  readonly input: readonly string[];
  readonly dimensions: number | undefined;
}

export type EmbeddingAnswer = (request: EmbeddingRequest, response: ServerResponse) => void;

export interface EmbeddingServer {
  readonly url: string;
  readonly requests: EmbeddingRequest[];
  /** Answers to the next calls, in order; then `embeds` again. */
  next(...answers: readonly EmbeddingAnswer[]): void;
  /** Stops answering after this many texts, until `clear`. */
  stallAfter(texts: number): void;
  /** Clears the recorded requests and the scripted answers. */
  clear(): void;
  close(): Promise<void>;
}

export async function startEmbeddingServer(): Promise<EmbeddingServer> {
  const requests: EmbeddingRequest[] = [];
  const answers: EmbeddingAnswer[] = [];
  let most = Number.POSITIVE_INFINITY;
  const server = createServer(async (incoming, response) => {
    let body = "";
    for await (const chunk of incoming) body += chunk;
    const { model, input, dimensions } = JSON.parse(body) as EmbeddingRequest;
    const { authorization } = incoming.headers;
    const request = { path: incoming.url ?? "", authorization, model, input, dimensions };
    requests.push(request);
    if (requests.reduce((sum, each) => sum + each.input.length, 0) > most) return;
    (answers.shift() ?? embeds)(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    next: (...more) => {
      answers.push(...more);
    },
    stallAfter: (texts) => {
      most = texts;
    },
    clear: () => {
      most = Number.POSITIVE_INFINITY;
      answers.length = 0;
      requests.length = 0;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** In arbitrary order, as the protocol allows. */
export const embeds: EmbeddingAnswer = ({ input, dimensions }, response) => {
  const data = input.map((text, index) => ({ index, embedding: vectorOf(text, dimensions) }));
  const tokens = input.reduce((sum, text) => sum + text.split(/\s+/).length, 0);
  sendJson(response, 200, { data: data.reverse(), usage: { prompt_tokens: tokens } });
};

export function fails(status: number, headers: Record<string, string> = {}): EmbeddingAnswer {
  return (_, response) => sendJson(response, status, { error: "no" }, headers);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}
