/**
 * The embedder, the language model and the prices of the command line: from the environment, else
 * from files. No command needs one to start.
 */

import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { hasConfig } from "../../gateway/config/find-config.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { Embedder, TextModel } from "../../model/models.ts";
import { LIST_PRICES, type PriceTable, readPrices } from "../../model/prices.ts";
import { readVariable } from "../../model/variables.ts";
import { compatibleEmbedder } from "../../providers/embedding/compatible-embedder.ts";
import { localEmbedder } from "../../providers/embedding/local-embedder.ts";
import type { FullModel } from "../../providers/language-model.ts";
import { compatibleModel } from "../../providers/language-model.ts";

/** The name of the model that runs in this process. */
const LOCAL = "local";

/** An embedder, and the names of its settings at their source. */
interface Named {
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
  const { ownConfig } = await import("./own-config.ts");
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

/** The option `models` of `open`: `default` if the environment names a server and a model. */
export function modelsOfEnvironment(): Record<string, TextModel> {
  const { url, model, apiKey } = readEnvironment();
  if (url === undefined || model === undefined) return {};
  const key = apiKey === undefined ? {} : { apiKey };
  // A wrong address fails only commands that call the model.
  const asked = () => {
    readVariable("BACKSCROLL_MODEL_URL", process.env);
    return compatibleModel({ baseUrl: url, model, ...key });
  };
  const answering: FullModel = {
    name: model,
    generate: async (request) => asked().generate(request),
    async *stream(request) {
      yield* asked().stream(request);
    },
  };
  return { default: answering };
}

/** Adds the environment variables to set to `model_unavailable`. */
export async function explainMissingModel<Result>(action: () => Promise<Result>): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    if (!BackscrollError.is(error, "model_unavailable")) throw error;
    const { url, model } = readEnvironment();
    const missing = [
      ...(url === undefined ? ["BACKSCROLL_MODEL_URL"] : []),
      ...(model === undefined ? ["BACKSCROLL_MODEL"] : []),
    ];
    const way =
      missing.length === 0
        ? "the command line knows one model, named default"
        : `set ${missing.join(" and ")} to use one`;
    const name = String(error.details["model"] ?? "default");
    throw new BackscrollError("model_unavailable", `there is no model ${name}; ${way}`, {
      details: error.details,
      cause: error,
    });
  }
}

interface ModelEnvironment {
  readonly url: string | undefined;
  readonly model: string | undefined;
  readonly apiKey: string | undefined;
}

function readEnvironment(): ModelEnvironment {
  // An empty variable counts as unset.
  return {
    url: process.env["BACKSCROLL_MODEL_URL"] || undefined,
    model: readVariable("BACKSCROLL_MODEL", process.env),
    apiKey: readVariable("BACKSCROLL_MODEL_KEY", process.env),
  };
}

/** `BACKSCROLL_PRICES`, else `~/.backscroll/prices.json` if it is there. */
export function ownPrices(): PriceTable {
  const named = readVariable("BACKSCROLL_PRICES", process.env);
  const usual = join(homedir(), ".backscroll", "prices.json");
  if (named) return readPricesFile(named);
  return existsSync(usual) ? readPricesFile(usual) : LIST_PRICES;
}

export function readPricesFile(file: string): PriceTable {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    const message = `the prices in ${file} cannot be read: ${(cause as Error).message}`;
    throw new BackscrollError("invalid_input", message, { details: { field: "prices", file } });
  }
  return readPrices(text, file);
}
