/** Which model answers in a conversation: what its route says, as far as the host can follow it. */

import type { ChatModel, ReasoningEffort } from "../../context/chat-model.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import type { RouteFields } from "../../model/route.ts";
import { type AiSdkModel, toChatModel } from "../../providers/language-model.ts";
import { type ReadThinking, readThinking } from "./levels.ts";

export type AnyModel = ChatModel | AiSdkModel;

/** A model, and what a level means for it. */
export interface ModelChoice {
  readonly model: AnyModel;
  /** By provider, what only that one understands. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>>;
  /** In place of what `thinkingLevel` comes to; null: the provider's own default. */
  readonly reasoning?: ReasoningEffort | null;
  /** What of the route could not be followed, in words: told as `setting_ignored`. */
  readonly ignored?: readonly string[];
}

/**
 * One model for all, or a choice by the route: its overrides are names that only the host can turn into
 * a model.
 */
export type GatewayModel = AnyModel | ((fields: RouteFields) => AnyModel | ModelChoice);

export interface ChosenModel {
  readonly model: ChatModel;
  readonly providerOptions?: Readonly<Record<string, JsonObject>>;
  readonly reasoning?: ReasoningEffort;
  /** What the route asks for and does not get. */
  readonly problems: readonly string[];
}

/** `given` is the host's word for this call, before all else. Undefined: there is no model at all. */
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
