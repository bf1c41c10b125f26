/** Chooses the model of a conversation by its route, as far as the host supports it. */

import {
  type ChatModel,
  REASONING_EFFORTS,
  type ReasoningEffort,
} from "../../context/chat-model.ts";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import { defined } from "../../model/defined.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import type { RouteFields } from "../../model/route.ts";
import { type AiSdkModel, toChatModel } from "../../providers/language-model.ts";

export type AnyModel = ChatModel | AiSdkModel;

/** A model with its options for a level. */
export interface ModelChoice {
  readonly model: AnyModel;
  /** Provider-specific options. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>>;
  /** Replaces the effort derived from `thinkingLevel`; null: the provider's default. */
  readonly reasoning?: ReasoningEffort | null;
  /** Route settings that were ignored, as sentences; reported as `setting_ignored`. */
  readonly ignored?: readonly string[];
}

/**
 * One model for all, or a function of the route: only the host can map override names to models.
 */
export type GatewayModel = AnyModel | ((fields: RouteFields) => AnyModel | ModelChoice);

interface ChosenModel {
  readonly model: ChatModel;
  readonly providerOptions?: Readonly<Record<string, JsonObject>>;
  readonly reasoning?: ReasoningEffort;
  /** Route settings that cannot be followed. */
  readonly problems: readonly string[];
}

/** `given` is the host's model for this call and takes precedence. Undefined: no model. */
export function chooseModel(
  known: GatewayModel | undefined,
  given: AnyModel | undefined,
  fields: RouteFields,
): ChosenModel | undefined {
  const isChosen = given === undefined && typeof known === "function";
  const found = given ?? (typeof known === "function" ? known(fields) : known);
  if (found === undefined) return undefined;
  const choice: ModelChoice = "model" in found ? found : { model: found };
  const { providerOptions } = choice;
  const model = toChatModel(choice.model);
  const { reasoning, problem } = reasoningOf(choice, fields);
  return {
    model,
    ...defined({ providerOptions, reasoning }),
    problems: [
      ...(isChosen ? (choice.ignored ?? []) : ignoredOverrides(fields, model.name)),
      ...(problem === undefined ? [] : [problem]),
    ],
  };
}

/** The host's reasoning option goes before the route's level. */
function reasoningOf({ reasoning }: ModelChoice, fields: RouteFields): ReadThinking {
  if (reasoning === null) return {};
  return reasoning === undefined ? readThinking(fields) : { reasoning };
}

/** With a single model, an override of another model is ignored and reported. */
function ignoredOverrides(
  { modelOverride, providerOverride, authProfileOverride }: RouteFields,
  answering: string,
): string[] {
  const asked = [
    ["model", modelOverride === answering ? undefined : modelOverride],
    ["provider", providerOverride],
    ["credentials", authProfileOverride],
  ] as const;
  return asked.flatMap(([what, name]) =>
    name === undefined ? [] : [`the route asks for the ${what} ${name}; ${answering} answers`],
  );
}

export function noModel(): BackscrollError {
  const way = "give `model` to the call or to openGateway, or set agents.defaults.model";
  return new BackscrollError("model_unavailable", `there is no model to answer; ${way}`);
}

/** Translates a route's levels into options for models and channels. */
interface ReadThinking {
  /** Undefined: the provider's own default. */
  readonly reasoning?: ReasoningEffort;
  /** Why the level is not followed. */
  readonly problem?: string;
}

/** Synonyms of the SDK's levels; null: the provider's default. */
const MEANINGS: Readonly<Record<string, ReasoningEffort | null>> = {
  off: "none",
  on: "low",
  default: null,
  "provider-default": null,
};

/**
 * Maps `thinkingLevel`, in any case, to a reasoning effort. An unknown word is reported and
 * ignored: it may belong to another gateway, and the message still needs an answer.
 */
export function readThinking({ thinkingLevel = "" }: RouteFields): ReadThinking {
  const word = thinkingLevel.trim().toLowerCase();
  const meant = Object.hasOwn(MEANINGS, word)
    ? MEANINGS[word]
    : REASONING_EFFORTS.find((effort) => effort === word);
  if (word === "" || meant === null) return {};
  if (meant !== undefined) return { reasoning: meant };
  const known = [...Object.keys(MEANINGS), ...REASONING_EFFORTS].join(", ");
  const shown = JSON.stringify(thinkingLevel.slice(0, 40));
  return { problem: `the route's thinkingLevel ${shown} is unknown; known are ${known}` };
}

/** The model's thinking, if `reasoningLevel` permits it. */
export function shownThoughts({ reasoningLevel }: RouteFields, { blocks }: Entry): string[] {
  if (!isOn(reasoningLevel)) return [];
  return blocks.flatMap((block) =>
    block.type === "thinking" && block.text.trim() !== "" ? [block.text] : [],
  );
}

/** Every word but `off` means on. */
export function isOn(level: string | undefined): boolean {
  const word = level?.trim().toLowerCase() ?? "";
  return word !== "" && word !== "off";
}

/**
 * The store's model of that name (the setting `agents.defaults.model`). Throws `model_unavailable`
 * if it is missing or only writes summaries.
 */
export function storeModel(tenant: TenantEngine, name: string): ChatModel {
  const model = tenant.textModel(name) as Partial<ChatModel>;
  if (typeof model.stream === "function") return model as ChatModel;
  throw new BackscrollError(
    "model_unavailable",
    `the model ${name} answers no conversations: it has no stream`,
    { details: { model: name } },
  );
}

/** The store's model that the route's `modelOverride` names, else `name`. */
export function storeModels(tenant: TenantEngine, name: string): GatewayModel {
  return ({ modelOverride, providerOverride, authProfileOverride }) => {
    const own = modelOverride === undefined ? undefined : findModel(tenant, modelOverride);
    const ignored = [
      own === undefined ? modelOverride : undefined,
      providerOverride,
      authProfileOverride,
    ].filter((asked) => asked !== undefined);
    const why = "which names no model of the store";
    return {
      model: own ?? storeModel(tenant, name),
      ignored: ignored.map((asked) => `the route asks for ${asked}, ${why}`),
    };
  };
}

function findModel(tenant: TenantEngine, name: string): ChatModel | undefined {
  try {
    return storeModel(tenant, name);
  } catch (error) {
    if (BackscrollError.is(error, "model_unavailable")) return undefined;
    throw error;
  }
}
