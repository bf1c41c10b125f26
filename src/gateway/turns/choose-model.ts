/** Chooses the model of a conversation by its route, as far as the host supports it. */

import type { ChatModel, ReasoningEffort } from "../../context/chat-model.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import type { RouteFields } from "../../model/route.ts";
import { type AiSdkModel, toChatModel } from "../../providers/language-model.ts";
import { type ReadThinking, readThinking } from "./levels.ts";

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

export interface ChosenModel {
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
    ...(providerOptions === undefined ? {} : { providerOptions }),
    ...(reasoning === undefined ? {} : { reasoning }),
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
