/** Checks and completes the input of a streamed message's commit. */

import { defined } from "../../model/defined.ts";
import type { Usage } from "../../model/entry.ts";
import { checkName } from "../../model/ids.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import type { JsonObject } from "../../model/json.ts";
import { checkInput, checkMetadata, checkUsage, type UsageInput } from "../check.ts";

export interface CommitInput {
  readonly usage?: UsageInput;
  readonly contextWindow?: number;
  readonly model?: string;
  readonly adapter?: string;
  readonly metadata?: JsonObject;
  /** Compare-and-swap: fails with `stale_leaf` unless this is the leaf. */
  readonly expectedLeaf?: string | null;
  /** The entry to continue from. Default: the active leaf. */
  readonly parent?: string | null;
  /** The entry that this message replaces, such as an aborted one. */
  readonly supersedes?: string;
  readonly idempotencyKey?: string;
}

/** The store's request for a commit. */
export interface CommitRequest {
  readonly usage: Usage | null;
  readonly model: string | null;
  readonly adapter: string | null;
  readonly metadata: string | null;
  readonly contextWindow?: number;
  readonly expectedLeaf?: string | null;
  readonly parentId?: string | null;
  readonly supersedes?: string;
}

export function toCommitRequest(input: CommitInput): CommitRequest {
  checkInput(input, "options", INPUTS["openMessage.commit"]);
  const { usage, model, adapter, metadata, contextWindow, expectedLeaf, parent, supersedes } =
    input;
  return {
    usage: usage === undefined ? null : checkUsage(usage),
    model: model === undefined ? null : checkName(model, "model"),
    adapter: adapter === undefined ? null : checkName(adapter, "adapter"),
    metadata: metadata === undefined ? null : JSON.stringify(checkMetadata(metadata)),
    ...defined({ contextWindow, expectedLeaf, parentId: parent, supersedes }),
  };
}
