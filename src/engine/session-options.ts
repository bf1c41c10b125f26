/** Options of a session's calls. */

import type { JsonObject } from "../model/json.ts";
import type { ContentInput } from "../transcript/normalize.ts";
import type { AppendOptions } from "./append.ts";

export interface BranchInput {
  /** Summary of the abandoned branch. */
  readonly summary?: ContentInput;
  readonly expectedLeaf?: string | null;
}

export interface EditInput extends Pick<AppendOptions, "expectedLeaf" | "idempotencyKey"> {
  readonly actor?: string;
  readonly metadata?: JsonObject;
}

export interface CustomMessageInput {
  /** The extension's name for it. */
  readonly type: string;
  readonly content: ContentInput;
  readonly display?: boolean;
  readonly metadata?: JsonObject;
}
