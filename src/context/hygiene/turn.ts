/**
 * A context on its way to a provider: turns of which every block can be sent.
 *
 * A message may hold anything that was once stored. A turn holds only what its role may say at the
 * provider in question, so the steps behind the first one, and the renderers, have no case that
 * "cannot happen". Tool results are turns of their own.
 */

import type { JsonObject } from "../../model/json.ts";
import type { Family } from "./family.ts";

export interface SentText {
  readonly type: "text";
  readonly text: string;
  /** What Google wants back with it, byte for byte. */
  readonly thoughtSignature?: string;
}

/** A signed thought, and whose signature it is. */
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

/** What only the provider understands, as the object that it sent. */
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
  /** Its writer did not finish it. */
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
