/** Which model answers in a conversation: what its route says, as far as the host can follow it. */

import type { ChatModel } from "../../context/chat-model.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import type { RouteFields } from "../../model/route.ts";
import { type AiSdkModel, toChatModel } from "../../providers/language-model.ts";

export type AnyModel = ChatModel | AiSdkModel;

/** A model, and what a level means for it: by provider, what only that one understands. */
export interface ModelChoice {
  readonly model: AnyModel;
  readonly providerOptions?: Readonly<Record<string, JsonObject>>;
}

/**
 * One model for all, or a choice by the route: its overrides are names, and its levels words, that only
 * the host can turn into a model.
 */
export type GatewayModel = AnyModel | ((fields: RouteFields) => AnyModel | ModelChoice);

export interface ChosenModel {
  readonly model: ChatModel;
  readonly providerOptions?: Readonly<Record<string, JsonObject>>;
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
  const { model, ...more } = "model" in found ? found : { model: found };
  const chat = toChatModel(model);
  const { modelOverride } = fields;
  const isIgnored = !isChosen && modelOverride !== undefined && modelOverride !== chat.name;
  const problem = `the route asks for the model ${modelOverride}; ${chat.name} answers`;
  return { ...more, model: chat, problems: isIgnored ? [problem] : [] };
}

export function noModel(): BackscrollError {
  const way = "give `model` to the call, or to openGateway";
  return new BackscrollError("model_unavailable", `there is no model to answer; ${way}`);
}
