/** A message of a context, independent of providers. */

import type { CONTEXT_MESSAGE } from "../model/answers/context.ts";
import type { CONTEXT_PARTS } from "../model/inputs/choices.ts";
import type { FieldsOf } from "../model/shape.ts";

/** The part of the context that a message belongs to. */
export type ContextPart = (typeof CONTEXT_PARTS)[number];

export interface ContextMessage extends FieldsOf<typeof CONTEXT_MESSAGE> {
  /** An unfinished assistant message: its open calls get no results. */
  readonly aborted?: boolean;
}
