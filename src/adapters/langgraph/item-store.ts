/**
 * LangGraph's long-term store on records: the path of an item is the record's key, its indexed
 * fields are the record's text.
 */

import type { TenantApi } from "../../engine/interfaces.ts";
import type { RecordOperation } from "../../engine/records/record-input.ts";
import { eachRecord, type RecordsApi } from "../../engine/records/records.ts";
import { BackscrollError } from "../../model/errors.ts";
import { checkFields } from "../../model/input.ts";
import { INPUTS } from "../../model/inputs/index.ts";
import { describe, isPlainObject, type JsonValue } from "../../model/json.ts";
import { MAX_HITS, MAX_RECORD_OPERATIONS } from "../../model/limits.ts";
import type { StoredRecord } from "../../model/record.ts";
import { deleteIfThere, escaped, plain, toRecordText } from "../common/records.ts";
import { checkTenant } from "../common/sessions.ts";
import { loadPeer } from "./peer.ts";
import type {
  GetOperation,
  ListNamespacesOperation,
  MatchCondition,
  PutOperation,
  SearchOperation,
  StoreItem,
  StoreOperation,
} from "./sdk-types.ts";

/**
 * The indexed text of an item: fields of its value, named by paths.
 *
 * The path of the whole value.
 */
const WHOLE_VALUE = "$";

/** Cut to the limit of a record's text; null if there is none. */
function textOfItem(value: unknown, paths: readonly string[]): string | null {
  const texts = paths.flatMap((path) => textsAt(value, path === WHOLE_VALUE ? [] : parse(path)));
  const text = texts.filter((part) => part !== "").join("\n");
  return toRecordText(text);
}

/** `a.b[0].c`, `a[*]`, `a[-1]`, `*`, `{a,b.c}`. */
function parse(path: string): string[] {
  return path.match(/\{[^{}]*\}|\[[^[\]]*\]|[^.[\]{}]+/g) ?? [];
}

function textsAt(value: unknown, steps: readonly string[]): string[] {
  const [step, ...rest] = steps;
  if (step === undefined) return leaves(value);
  if (step.startsWith("{")) {
    const names = step.slice(1, -1).split(",");
    return names.flatMap((name) => textsAt(value, [...parse(name.trim()), ...rest]));
  }
  return membersAt(value, step).flatMap((member) => textsAt(member, rest));
}

function membersAt(value: unknown, step: string): readonly unknown[] {
  const isIndex = step.startsWith("[");
  const name = isIndex ? step.slice(1, -1) : step;
  if (Array.isArray(value)) {
    if (name === "*") return value;
    const member: unknown = isIndex ? value.at(Number(name)) : undefined;
    return member === undefined ? [] : [member];
  }
  if (!isPlainObject(value) || isIndex) return [];
  if (name === "*") return Object.values(value);
  return Object.hasOwn(value, name) ? [value[name]] : [];
}

function leaves(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (Array.isArray(value)) return value.flatMap(leaves);
  return isPlainObject(value) ? Object.values(value).flatMap(leaves) : [];
}

/** Filters of LangGraph's store: exact values, and operators on one field. */
type Test = (value: unknown, wanted: unknown) => boolean;

const OPERATORS: Readonly<Record<string, Test>> = {
  $eq: (value, wanted) => value === wanted,
  $ne: (value, wanted) => value !== wanted,
  $gt: (value, wanted) => Number(value) > Number(wanted),
  $gte: (value, wanted) => Number(value) >= Number(wanted),
  $lt: (value, wanted) => Number(value) < Number(wanted),
  $lte: (value, wanted) => Number(value) <= Number(wanted),
  $in: (value, wanted) => Array.isArray(wanted) && wanted.includes(value),
  $nin: (value, wanted) => !(Array.isArray(wanted) && wanted.includes(value)),
};

function fitsFilter(
  value: Readonly<Record<string, unknown>>,
  filter: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(filter).every(([field, wanted]) => fits(value[field], wanted));
}

function fits(value: unknown, wanted: unknown): boolean {
  if (!isPlainObject(wanted)) return value === wanted;
  return Object.entries(wanted).every(([name, operand]) => {
    const test = OPERATORS[name];
    if (test !== undefined) return test(value, operand);
    const known = Object.keys(OPERATORS).join(", ");
    throw new BackscrollError("invalid_input", `filter has no operator ${name}; it has ${known}`, {
      details: { field: "filter" },
    });
  });
}

export interface ItemStoreOptions {
  /** The namespace of its records. Default: `langgraph-store`. */
  readonly namespace?: string;
  /** The time to live of an item, in seconds after its last write. Default: none. */
  readonly ttl?: number;
  /** Paths of the indexed fields, if a `put` names none. Default: all texts. */
  readonly fields?: readonly string[];
}

/** `graph.compile({ store: itemStore(memory) })`. */
export function itemStore(tenant: TenantApi, options: ItemStoreOptions = {}): ItemStore {
  return new ItemStore(tenant, options);
}

const DEFAULT_ITEMS = 10;
const DEFAULT_NAMESPACES = 100;

export class ItemStore {
  readonly #records: RecordsApi;
  readonly #namespace: string;
  readonly #ttl: number | null;
  readonly #fields: readonly string[];

  constructor(tenant: TenantApi, options: ItemStoreOptions) {
    const {
      namespace = "langgraph-store",
      ttl = null,
      fields = [WHOLE_VALUE],
    } = checkFields(options, "options", INPUTS.itemStore);
    checkTenant(tenant);
    this.#records = tenant.records;
    this.#namespace = namespace;
    this.#ttl = ttl;
    this.#fields = fields;
  }

  /** Reads see the store as it was before the writes of the same batch, which are one transaction. */
  // biome-ignore lint/suspicious/noExplicitAny: the result depends on the operation, as LangGraph types it.
  async batch(operations: readonly StoreOperation[]): Promise<any> {
    const results: unknown[] = [];
    const puts = new Map<string, PutOperation>();
    for (const operation of operations) {
      if ("namespacePrefix" in operation) results.push(await this.#search(operation));
      else if ("value" in operation) {
        checkItem(operation);
        puts.set(keyOf(await checkNamespace(operation.namespace), operation.key), operation);
        results.push(undefined);
      } else if ("key" in operation) results.push(await this.#get(operation));
      else results.push(await this.#listNamespaces(operation));
    }
    await this.#write(puts);
    return results;
  }

  async get(namespace: string[], key: string): Promise<StoreItem | null> {
    return this.#get({ namespace, key });
  }

  async put(
    namespace: string[],
    key: string,
    value: Record<string, unknown>,
    index?: false | string[],
  ): Promise<void> {
    await this.batch([{ namespace, key, value, ...(index === undefined ? {} : { index }) }]);
  }

  async delete(namespace: string[], key: string): Promise<void> {
    await this.batch([{ namespace, key, value: null }]);
  }

  /** With a query the best first, at most 20; else in the order of namespaces and keys. */
  async search(
    namespacePrefix: string[],
    options: Omit<SearchOperation, "namespacePrefix"> = {},
  ): Promise<StoreItem[]> {
    return this.#search({ ...options, namespacePrefix });
  }

  async listNamespaces(
    options: {
      readonly prefix?: string[];
      readonly suffix?: string[];
      readonly maxDepth?: number;
      readonly limit?: number;
      readonly offset?: number;
    } = {},
  ): Promise<string[][]> {
    const {
      prefix,
      suffix,
      maxDepth,
      limit = DEFAULT_NAMESPACES,
      offset = 0,
    } = checkFields(options, "options", INPUTS["itemStore.listNamespaces"]);
    const matchConditions: MatchCondition[] = [];
    if (prefix !== undefined) matchConditions.push({ matchType: "prefix", path: prefix });
    if (suffix !== undefined) matchConditions.push({ matchType: "suffix", path: suffix });
    const depth = maxDepth === undefined ? {} : { maxDepth };
    return this.#listNamespaces({ matchConditions, limit, offset, ...depth });
  }

  start(): void {}

  stop(): void {}

  async #get({ namespace, key }: GetOperation): Promise<StoreItem | null> {
    const record = await this.#records.find(this.#namespace, keyOf(namespace, key));
    return record === undefined ? null : toItem(record);
  }

  async #write(puts: ReadonlyMap<string, PutOperation>): Promise<void> {
    const writes: RecordOperation[] = [];
    const gone: string[] = [];
    for (const [key, { value, index }] of puts) {
      if (value === null) {
        gone.push(key);
        continue;
      }
      const text = index === false ? null : textOfItem(value, index ?? this.#fields);
      const json = value as unknown as JsonValue;
      writes.push({ put: { namespace: this.#namespace, key, value: json, text, ttl: this.#ttl } });
    }
    for (let i = 0; i < writes.length; i += MAX_RECORD_OPERATIONS) {
      await this.#records.write(writes.slice(i, i + MAX_RECORD_OPERATIONS));
    }
    for (const key of gone) await deleteIfThere(this.#records, this.#namespace, key);
  }

  async #search(operation: SearchOperation): Promise<StoreItem[]> {
    const {
      namespacePrefix,
      filter = {},
      limit = DEFAULT_ITEMS,
      offset = 0,
      query,
    } = checkFields(operation, "options", INPUTS["itemStore.search"]);
    const prefix = prefixOf(namespacePrefix);
    const candidates =
      query === undefined || query.trim() === ""
        ? this.#below(prefix)
        : await this.#find(query, prefix);
    const items: StoreItem[] = [];
    let seen = 0;
    for await (const record of candidates) {
      if (items.length >= limit) break;
      const item = toItem(record);
      if (!fitsFilter(item.value, filter)) continue;
      if (seen >= offset) items.push(item);
      seen += 1;
    }
    return items;
  }

  async #find(query: string, prefix: string): Promise<readonly StoredRecord[]> {
    const namespace = this.#namespace;
    const hits = await this.#records.search(query, { namespace, prefix, limit: MAX_HITS });
    const keys = hits.map(({ key }) => key);
    const records = await this.#records.getMany(namespace, keys);
    return records.filter((record) => record !== undefined);
  }

  async #listNamespaces(operation: ListNamespacesOperation): Promise<string[][]> {
    const { matchConditions = [], maxDepth, limit, offset } = operation;
    const found = new Map<string, string[]>();
    for await (const namespace of this.#names(scanPrefix(matchConditions))) {
      if (!matchConditions.every((condition) => doesMatch(condition, namespace))) continue;
      const shown = namespace.slice(0, maxDepth);
      found.set(prefixOf(shown), shown);
    }
    return [...found.values()].slice(offset, offset + limit);
  }

  async *#below(prefix: string): AsyncGenerator<StoredRecord> {
    yield* eachRecord(this.#records, { namespace: this.#namespace, prefix, values: true });
  }

  async *#names(prefix: string): AsyncGenerator<string[]> {
    for await (const { key } of eachRecord(this.#records, { namespace: this.#namespace, prefix })) {
      yield readKey(key).namespace;
    }
  }
}

/** Labels and key, each without slashes, so that the last part is the key. */
function keyOf(namespace: readonly string[], key: string): string {
  return `${prefixOf(namespace)}${escaped(key)}`;
}

function prefixOf(namespace: readonly string[]): string {
  return namespace.map((label) => `${escaped(label)}/`).join("");
}

function readKey(key: string): { readonly namespace: string[]; readonly key: string } {
  const parts = key.split("/").map(plain);
  return { namespace: parts.slice(0, -1), key: parts.at(-1) ?? "" };
}

function toItem(record: StoredRecord): StoreItem {
  return {
    ...readKey(record.key),
    value: record.value as Record<string, unknown>,
    createdAt: new Date(record.createdAt),
    updatedAt: new Date(record.updatedAt),
  };
}

/** The labels before the first `*` of a condition on the start. */
function scanPrefix(conditions: readonly MatchCondition[]): string {
  const path = conditions.find(({ matchType }) => matchType === "prefix")?.path ?? [];
  const star = path.indexOf("*");
  return prefixOf(star < 0 ? path : path.slice(0, star));
}

function doesMatch({ matchType, path }: MatchCondition, namespace: readonly string[]): boolean {
  if (path.length > namespace.length) return false;
  const start = matchType === "prefix" ? 0 : namespace.length - path.length;
  return path.every((label, i) => label === "*" || label === namespace[start + i]);
}

/** A value is an object, as LangGraph types it; null deletes the item. */
function checkItem({ key, value }: PutOperation): void {
  const isItem = isPlainObject(value) || value === null;
  if (isItem && typeof key === "string") return;
  const [field, wanted, found] = isItem ? ["key", "a string", key] : ["value", "an object", value];
  const message = `${field} must be ${wanted}, not ${describe(found)}`;
  throw new BackscrollError("invalid_input", message, { details: { field: String(field) } });
}

/** LangGraph's rules for labels. Throws its `InvalidNamespaceError`, which hosts catch by class. */
async function checkNamespace(namespace: unknown): Promise<string[]> {
  const labels = Array.isArray(namespace) ? (namespace as unknown[]) : [];
  const isValid = labels.every(
    (label) => typeof label === "string" && label !== "" && !label.includes("."),
  );
  if (labels.length > 0 && isValid && labels[0] !== "langgraph") return labels as string[];
  const message =
    'namespace must be a list of non-empty texts without periods that does not start with "langgraph"';
  const cause = new BackscrollError("invalid_input", message, { details: { field: "namespace" } });
  const { InvalidNamespaceError } = await loadPeer().catch(() => ({
    InvalidNamespaceError: undefined,
  }));
  if (InvalidNamespaceError === undefined) throw cause;
  throw Object.assign(new InvalidNamespaceError(message), { cause });
}
