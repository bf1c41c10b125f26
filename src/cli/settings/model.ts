/** The language model of the command line, from the environment. No command needs one to start. */

import { BackscrollError } from "../../model/errors.ts";
import type { TextModel } from "../../model/text-model.ts";
import { readVariable } from "../../model/variables.ts";
import { compatibleModel, type FullModel } from "../../providers/language-model.ts";

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
