/** The models that the store was opened with, by name. */

import type { ChatModel } from "../../context/chat-model.ts";
import type { TenantEngine } from "../../engine/tenant-engine.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { GatewayModel } from "./choose-model.ts";

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
