/**
 * An embedding model behind a server with OpenAI's `/v1/embeddings`: Ollama, LM Studio, vLLM,
 * llama.cpp, or a hosted one.
 *
 * Only the configured address gets text: a redirect is a failure.
 */

import { BackscrollError } from "../../model/errors.ts";
import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { Embedder } from "../../model/models.ts";
import { requireAllowed } from "../../policy.ts";
import { checkBaseUrl } from "../compatible-model.ts";
import { type EmbedderOptions, type EmbeddingAnswer, retryingEmbedder } from "./ask-embedder.ts";

export interface CompatibleEmbedderOptions extends EmbedderOptions {
  /** Up to the version, such as `http://localhost:11434/v1`. */
  readonly baseUrl: string;
  /** The server's own name of the model. */
  readonly model: string;
  /** Sent as a bearer token; local servers usually need none. */
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export function compatibleEmbedder(options: CompatibleEmbedderOptions): Embedder {
  const { baseUrl, model, apiKey, headers, dimensions } = checkFields(
    options,
    "options",
    INPUTS.compatibleEmbedder,
  );
  checkBaseUrl(baseUrl);
  if (!LOOPBACK.test(new URL(baseUrl).hostname)) requireAllowed("remoteEmbedders");
  if (typeof model !== "string" || model.trim() === "") {
    throw invalid("model", "model must be the name that the server knows the model under");
  }
  if (dimensions !== undefined && !(Number.isInteger(dimensions) && dimensions >= 1)) {
    throw invalid("dimensions", "dimensions must be a whole number of at least 1");
  }
  const url = `${baseUrl.replace(/(?<!\/)\/+$/, "")}/embeddings`;
  const sent = new Headers({ "content-type": "application/json", ...headers });
  if (apiKey !== undefined) sent.set("authorization", `Bearer ${apiKey}`);
  const size = dimensions === undefined ? undefined : { dimensions };
  return retryingEmbedder(options.name ?? model, options, async (input, signal) => {
    const body = JSON.stringify({ model, input, encoding_format: "float", ...size });
    const response = await fetch(url, {
      method: "POST",
      headers: sent,
      body,
      redirect: "manual",
      signal,
    });
    if (response.status !== 200) throw await httpFailure(response);
    return readAnswer(await response.json().catch(() => undefined), input.length);
  });
}

/** In the shape of the AI SDK's errors, which `modelFailure` explains. */
async function httpFailure(response: Response): Promise<Error> {
  const isRedirect = response.status >= 300 && response.status < 400;
  const responseBody = isRedirect ? "" : await response.text().catch(() => "");
  return Object.assign(new Error(`HTTP status ${response.status}`), {
    statusCode: response.status,
    responseHeaders: Object.fromEntries(response.headers),
    responseBody,
  });
}

interface WireAnswer {
  readonly data?: readonly { readonly index?: number; readonly embedding?: unknown }[];
  readonly usage?: { readonly prompt_tokens?: number; readonly total_tokens?: number };
}

function readAnswer(answer: unknown, count: number): EmbeddingAnswer {
  const { data, usage } = (answer ?? {}) as WireAnswer;
  const vectors: number[][] = [];
  for (const [i, { index = i, embedding }] of (Array.isArray(data) ? data : []).entries()) {
    if (Array.isArray(embedding)) vectors[index] = embedding as number[];
  }
  if (vectors.length !== count || vectors.includes(undefined as never)) {
    const message = `the server gave ${vectors.length} vectors for ${count} texts`;
    throw Object.assign(new Error(message), { statusCode: 200 });
  }
  return { vectors, tokens: Number(usage?.prompt_tokens ?? usage?.total_tokens ?? 0) || 0 };
}

function invalid(field: string, message: string): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
}
