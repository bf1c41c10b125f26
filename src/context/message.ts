/** A message of a context: what the model is given, in no provider's words. */

import type { Block } from "../model/block.ts";
import type { Role } from "../model/entry.ts";
import type { CONTEXT_PARTS } from "../model/inputs/choices.ts";

/** Why a message is in the context. */
export type ContextPart = (typeof CONTEXT_PARTS)[number];

export interface ContextMessage {
  readonly role: Role;
  /** The actor, if the message is of a single entry. */
  readonly actor: string | null;
  readonly blocks: readonly Block[];
  readonly part: ContextPart;
  /** The entries that it was made from, so that every line can be opened. */
  readonly entryIds: readonly string[];
  /** The model that wrote it: its signatures are invalid for other models. */
  readonly model: string | null;
  /** An assistant message that its writer did not finish: its open calls get no results. */
  readonly aborted?: boolean;
}
