/** Writes a context as a prompt of the AI SDK's model interface. */

import type { ContextMessage } from "../../context/message.ts";
import type { AiSdkMessage } from "../../context/render/ai-sdk.ts";
import { renderContext } from "../../context/render/render.ts";
import type { SdkMessage, SdkModel, SdkPart } from "./sdk-model.ts";

/** The app's system messages, then the conversation. */
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

/** Version 4 tags a file's data; earlier versions distinguish an address by its type. */
function fileData(data: string, isTagged: boolean): unknown {
  const url = /^https?:\/\//i.test(data) ? new URL(data) : undefined;
  if (!isTagged) return url ?? data;
  return url === undefined ? { type: "data", data } : { type: "url", url };
}
