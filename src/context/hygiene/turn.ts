/**
 * A context prepared for a provider: turns whose blocks can all be sent.
 *
 * A stored message may hold anything. A turn holds only blocks that its role may have at the
 * provider, so later steps and renderers need no impossible cases. Tool results are turns of their
 * own.
 */

import type { JsonObject } from "../../model/json.ts";
import type { Family } from "./family.ts";

export interface SentText {
  readonly type: "text";
  readonly text: string;
  /** Google's signature, sent back byte for byte. */
  readonly thoughtSignature?: string;
}

/** A signed thought and the family of its signature. */
export interface SentThinking {
  readonly type: "thinking";
  readonly text: string;
  readonly signature: string;
  readonly family: Family;
}

export interface SentCall {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON text, unchecked. */
  readonly input: string;
  readonly thoughtSignature?: string;
}

/** Base64 data of a known type, or an address. */
export type SentImage =
  | { readonly type: "image"; readonly data: string; readonly mediaType: string }
  | { readonly type: "image"; readonly url: string; readonly mediaType: string | null };

/** A provider's own object, as it sent it. */
export interface SentOpaque {
  readonly type: "opaque";
  readonly value: JsonObject;
}

export interface SentResult {
  readonly type: "tool_result";
  readonly toolUseId: string;
  readonly toolName: string;
  /** Never empty. */
  readonly output: readonly (SentText | SentImage)[];
  readonly isError: boolean;
}

export interface UserTurn {
  readonly role: "user";
  readonly blocks: readonly (SentText | SentImage | SentOpaque)[];
}

export interface AssistantTurn {
  readonly role: "assistant";
  readonly blocks: readonly (SentText | SentThinking | SentCall | SentImage | SentOpaque)[];
  /** Its writer was stopped. */
  readonly aborted: boolean;
}

export interface ToolTurn {
  readonly role: "tool";
  readonly results: readonly SentResult[];
}

export type Turn = UserTurn | AssistantTurn | ToolTurn;

export function callsOf(turn: AssistantTurn): SentCall[] {
  return turn.blocks.filter((block) => block.type === "tool_use");
}
