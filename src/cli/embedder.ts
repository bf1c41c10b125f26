/** The embedder of the command line: the environment names it, and no command needs one to start. */

import type { Embedder } from "../model/embedder.ts";
import { BackscrollError } from "../model/errors.ts";
import { compatibleEmbedder } from "../providers/embedding/compatible-embedder.ts";
import { localEmbedder } from "../providers/embedding/local-embedder.ts";

/** The model's name for one that runs on this machine without a server. */
const LOCAL = "local";

/** What `open` is given as `embedder`: undefined if the environment names none. */
export function embedderOfEnvironment(): Embedder | undefined {
  // An empty variable is how a shell unsets one for a single command.
  const read = (name: string) => process.env[`BACKSCROLL_EMBED_${name}`] || undefined;
  const [baseUrl, model, apiKey] = [read("URL"), read("MODEL"), read("KEY")];
  if (baseUrl === undefined && model === undefined) return undefined;
  if (model === undefined) {
    throw wrong("BACKSCROLL_EMBED_MODEL", "must name the model of BACKSCROLL_EMBED_URL");
  }
  if (baseUrl === undefined) {
    if (model === LOCAL) return localEmbedder();
    throw wrong(
      "BACKSCROLL_EMBED_URL",
      `must name the server of the model ${model}; a model without a server is BACKSCROLL_EMBED_MODEL=local`,
    );
  }
  const size = read("DIMENSIONS");
  if (size !== undefined && !/^[1-9]\d{0,4}$/.test(size)) {
    throw wrong("BACKSCROLL_EMBED_DIMENSIONS", "must be a whole number");
  }
  return compatibleEmbedder({
    baseUrl,
    model,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(size === undefined ? {} : { dimensions: Number(size) }),
  });
}

function wrong(field: string, what: string): BackscrollError {
  return new BackscrollError("invalid_input", `${field} ${what}`, { details: { field } });
}
