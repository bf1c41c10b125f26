/**
 * Transactions on a history: checked, and marked as applied. Refusals begin with the SDK's own words, which
 * its callers may look for; `details.field` names the place.
 */

import type { CustomEntryInput } from "../../engine/writing/entry-input.ts";
import { BackscrollError } from "../../model/errors.ts";
import { isPlainObject, stringifyJson } from "../../model/json.ts";
import { digest } from "../common/records.ts";
import { type AgentItem, canonicalText, type HistoryTransactionArgs, toItemJson } from "./items.ts";

/** `invalid_input` names the field that is wrong. Each field is read once. */
export function checkTransaction(args: HistoryTransactionArgs): HistoryTransactionArgs {
  try {
    return readTransaction(args);
  } catch (error) {
    if (error instanceof BackscrollError) throw error;
    // A getter's error may quote the item, so neither the message nor the cause includes it.
    const why = "a field cannot be read, because its getter throws";
    throw invalid("transaction", `Session history transaction arguments are invalid. ${why}`);
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
    const types = Object.keys(lists).join(" or ");
    throw invalid("type", `Unsupported session history transaction type: it must be ${types}`);
  }
  const isComplete = wanted.every((name) =>
    Array.isArray((rest as Readonly<Record<string, unknown>>)[name]),
  );
  if (!isComplete || Object.keys(rest).length !== wanted.length) {
    const what = type === "append_items" ? "append" : "suffix";
    const way = `give ${wanted.join(" and ")}, and nothing else`;
    throw invalid("transaction", `${what} transaction fields are invalid: ${way}`);
  }
  const given = rest as Readonly<Record<string, readonly AgentItem[]>>;
  for (const name of wanted) checkItems(given[name], name);
  return { operationId, transaction: snapshotOf(transaction) };
}

/** The error quotes no item. */
function checkItems(items: readonly AgentItem[] = [], list: string): void {
  for (const [i, item] of items.entries()) {
    const field = `${list}[${i}]`;
    const isItem = isPlainObject(item);
    try {
      if (isItem) stringifyJson(toItemJson(item), field);
    } catch (error) {
      if (BackscrollError.is(error)) throw unsupported(String(error.details["field"] ?? field));
      throw error;
    }
    if (!isItem) throw unsupported(field);
  }
}

/** A copy: the caller may change its items later. */
function snapshotOf(
  transaction: HistoryTransactionArgs["transaction"],
): HistoryTransactionArgs["transaction"] {
  try {
    return structuredClone(transaction);
  } catch {
    throw unsupported("items");
  }
}

function unsupported(field: string): BackscrollError {
  const what = "Session history transaction items contain invalid or unsupported data.";
  return invalid(field, what);
}

/** SHA-256 in hex: the same for transactions that differ only in the order of fields. */
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
