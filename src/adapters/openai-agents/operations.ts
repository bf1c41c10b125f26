/** Transactions on a history: checked, and marked as applied. */

import type { CustomEntryInput } from "../../engine/writing/entry-input.ts";
import { BackscrollError } from "../../model/errors.ts";
import { isPlainObject } from "../../model/json.ts";
import { digest } from "../common/digest.ts";
import { canonicalText, toItemJson } from "./item-json.ts";
import type { HistoryTransactionArgs } from "./sdk-types.ts";

/** `invalid_input` names the field that is wrong. Each field is read once. */
export function checkTransaction(args: HistoryTransactionArgs): HistoryTransactionArgs {
  try {
    return readTransaction(args);
  } catch (error) {
    if (error instanceof BackscrollError) throw error;
    // What a getter throws may hold what is in the item: it stays out of the message and the cause.
    throw invalid("transaction", "a field of the transaction cannot be read: its getter throws");
  }
}

function readTransaction(args: HistoryTransactionArgs): HistoryTransactionArgs {
  const { operationId, transaction } = Object(args) as HistoryTransactionArgs;
  if (typeof operationId !== "string" || operationId.trim() === "") {
    throw invalid("operationId", "operationId must be a non-empty string");
  }
  if (!isPlainObject(transaction)) throw invalid("transaction", "transaction must be an object");
  const lists = {
    append_items: ["items"],
    replace_suffix: ["expectedSuffix", "replacement"],
  } as const;
  const { type, ...rest } = transaction;
  const wanted: readonly string[] | undefined = Object.hasOwn(lists, type)
    ? lists[type]
    : undefined;
  if (wanted === undefined) {
    throw invalid("type", "transaction.type must be append_items or replace_suffix");
  }
  const isComplete = wanted.every((name) =>
    Array.isArray((rest as Readonly<Record<string, unknown>>)[name]),
  );
  if (!isComplete || Object.keys(rest).length !== wanted.length) {
    throw invalid("transaction", `transaction must have ${wanted.join(" and ")}, and nothing else`);
  }
  return { operationId, transaction };
}

/** SHA-256 in hex: the same for transactions that differ in the order of fields only. */
export async function digestOf(
  transaction: HistoryTransactionArgs["transaction"],
): Promise<string> {
  return digest(canonicalText(toItemJson(transaction)));
}

/** Stored with the change that it marks, in the same transaction. */
export function markerOf(
  type: string,
  clears: number,
  operationId: string,
  digest: string,
): CustomEntryInput & { readonly externalId: string } {
  return {
    kind: "custom",
    type,
    data: { digest },
    externalId: `operation ${clears}: ${operationId}`,
  };
}

function invalid(field: string, message: string): BackscrollError {
  return new BackscrollError("invalid_input", message, { details: { field } });
}
