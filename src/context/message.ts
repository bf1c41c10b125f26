/** A message of a context, independent of providers. */

import type { Block } from "../model/block.ts";
import type { Role } from "../model/entry.ts";
import type { CONTEXT_PARTS } from "../model/inputs/choices.ts";

/** The part of the context that a message belongs to. */
export type ContextPart = (typeof CONTEXT_PARTS)[number];

export interface ContextMessage {
  readonly role: Role;
  /** The actor, if the message comes from one entry. */
  readonly actor: string | null;
  readonly blocks: readonly Block[];
  readonly part: ContextPart;
  /** The source entries, so that every line can be traced. */
  readonly entryIds: readonly string[];
  /** The model that wrote it: its signatures are invalid for other models. */
  readonly model: string | null;
  /** An unfinished assistant message: its open calls get no results. */
  readonly aborted?: boolean;
}
