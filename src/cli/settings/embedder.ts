/**
 * The embedder of the command line: from the environment, else the configuration. No command needs
 * one to start.
 */

import { homedir } from "node:os";
import { hasConfig } from "../../gateway/config/find-config.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { Embedder } from "../../model/models.ts";
import { readVariable } from "../../model/variables.ts";
import { compatibleEmbedder } from "../../providers/embedding/compatible-embedder.ts";
import { localEmbedder } from "../../providers/embedding/local-embedder.ts";

/** The name of the model that runs in this process. */
const LOCAL = "local";

/** An embedder, and the names of its settings at their source. */
export interface Named {
  readonly url: string | undefined;
  readonly model: string | undefined;
  readonly dimensions: number | undefined;
  readonly names: { readonly url: string; readonly model: string };
}

/** The option `embedder` of `open`: undefined if no embedder is configured. */
export async function ownEmbedder(): Promise<Embedder | undefined> {
  const named = await embedderSettings();
  return named === undefined ? undefined : toEmbedder(named);
}

/** Its settings, unchecked. */
export async function embedderSettings(): Promise<Named | undefined> {
  return ofEnvironment() ?? (await ofConfiguration());
}

function ofEnvironment(): Named | undefined {
  const [url, model, size] = [read("URL"), read("MODEL"), read("DIMENSIONS")];
  if (url === undefined && model === undefined) return undefined;
  const dimensions = size === undefined ? undefined : Number(size);
  const names = { url: "BACKSCROLL_EMBED_URL", model: "BACKSCROLL_EMBED_MODEL" };
  return { url, model, dimensions, names };
}

/** Reads the file only if it exists: most commands do not need it. */
async function ofConfiguration(): Promise<Named | undefined> {
  if (!hasConfig(homedir(), process.env)) return undefined;
  const { ownConfig } = await import("../gateway/own-config.ts");
  const { url, model, dimensions } = ownConfig().config.embedder;
  if (url === null && model === null) return undefined;
  const names = { url: "embedder.url", model: "embedder.model" };
  return {
    url: url ?? undefined,
    model: model ?? undefined,
    dimensions: dimensions ?? undefined,
    names,
  };
}

function toEmbedder({ url: baseUrl, model, dimensions, names }: Named): Embedder {
  if (model === undefined) throw wrong(names.model, `must name the model of ${names.url}`);
  if (baseUrl === undefined) {
    if (model === LOCAL) return localEmbedder();
    throw wrong(
      names.url,
      `must name the server of the model ${model}; a model without a server is ${names.model}=local`,
    );
  }
  const apiKey = read("KEY");
  return compatibleEmbedder({
    baseUrl,
    model,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(dimensions === undefined ? {} : { dimensions }),
  });
}

function read(name: "URL" | "MODEL" | "DIMENSIONS" | "KEY"): string | undefined {
  return readVariable(`BACKSCROLL_EMBED_${name}`, process.env);
}

function wrong(field: string, what: string): BackscrollError {
  return new BackscrollError("invalid_input", `${field} ${what}`, { details: { field } });
}
