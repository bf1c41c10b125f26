/** A context as a model of the AI SDK is given it, beneath the SDK. */

import type { ContextMessage } from "../../context/message.ts";
import type { AiSdkMessage } from "../../context/render/ai-sdk.ts";
import { renderContext } from "../../context/render/render.ts";
import type { SdkMessage, SdkModel, SdkPart } from "./sdk-model.ts";

/** The app's own system messages first, then what the conversation says. */
export function writePrompt(
  system: readonly SdkMessage[],
  messages: readonly ContextMessage[],
  model: SdkModel,
): SdkMessage[] {
  const rendered = renderContext(messages, "ai-sdk", { model: model.modelId });
  const { instructions } = rendered;
  const isTagged = Number(/^v(\d+)/.exec(model.specificationVersion)?.[1] ?? 4) >= 4;
  return [
    ...system,
    ...(instructions === undefined ? [] : [{ role: "system" as const, content: instructions }]),
    ...rendered.messages.map((message) => toSdkMessage(message, isTagged)),
  ];
}

function toSdkMessage({ role, content }: AiSdkMessage, isTagged: boolean): SdkMessage {
  const parts = content as readonly SdkPart[];
  return {
    role,
    content: parts.map((part) =>
      part.type === "file" ? { ...part, data: fileData(String(part["data"]), isTagged) } : part,
    ),
  };
}

/** Version 4 says what the data of a file is; earlier ones tell an address by its type. */
function fileData(data: string, isTagged: boolean): unknown {
  const url = /^https?:\/\//i.test(data) ? new URL(data) : undefined;
  if (!isTagged) return url ?? data;
  return url === undefined ? { type: "data", data } : { type: "url", url };
}
