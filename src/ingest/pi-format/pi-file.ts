/**
 * The format of pi's session files, which other agents write as well: JSON lines, a header and then a
 * tree of records.
 *
 * Version 3 is the newest; version 2 differs in one role's name, version 1 is a line without ids.
 * The leaf is the last entry that moves it here: in pi itself any last line is the leaf, so that a
 * rename by a stale process can hide the conversation.
 */

import type { JsonValue } from "../../model/json.ts";
import { LEAF_MARK } from "../../transcript/pi-marks.ts";
import { toSourceMetadata } from "../../transcript/source-fields.ts";
import { type Fields, otherFields, presentFields, textField, timeField } from "../fields.ts";
import { firstRecord, type JsonRecord, readRecords } from "../jsonl.ts";
import type { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession, SourceInput } from "../source.ts";
import { type MappedEntry, movesLeaf, toEntry } from "./pi-entry.ts";
import { PiTree } from "./pi-tree.ts";

/** Whether a file that begins with `head` begins with a header. */
export function hasPiHeader(head: Uint8Array): boolean {
  const first = firstRecord(head);
  if (first !== undefined) return first["type"] === "session" && typeof first["id"] === "string";
  // The header is longer than what we were shown.
  const text = new TextDecoder("utf-8").decode(head);
  return /^\s*\{[^\n]{0,200}"type"\s*:\s*"session"/.test(text);
}

/** Where gateways built upon pi keep the sessions of their agents. */
export function isGatewayPath(path: string): boolean {
  return /(^|[/\\])agents[/\\][^/\\]+[/\\]sessions[/\\][^/\\]+$/.test(path);
}

/** The one session of a file. */
export async function* readPiFile(
  input: SourceInput,
  problems: ProblemLog,
): AsyncGenerator<ImportedSession> {
  const records = readRecords(input.lines, problems);
  const { value: first, done } = await records.next();
  if (done) return;
  const isHeader = first.record["type"] === "session";
  if (!isHeader) problems.add("missing_header", "the file begins without a header", first.line);
  const header = isHeader ? first.record : {};
  const file = new PiFile(header, problems);
  yield {
    ...toSession(header),
    entries: file.read(records, isHeader ? undefined : first),
    leaf: () => file.leaf,
    problems,
  };
}

function toSession(header: Fields): Omit<ImportedSession, "entries" | "leaf" | "problems"> {
  const id = textField(header, "id") ?? null;
  const parentSession =
    textField(header, "parentSession") ?? textField(header, "branchedFrom") ?? null;
  // The header whole, but for what other fields of the session say.
  const fields = otherFields(header, ["type", "id", "cwd", "timestamp"]);
  return {
    source: "pi",
    agent: "pi",
    id,
    title: null,
    cwd: textField(header, "cwd") || null,
    gitBranch: null,
    startedAt: timeField(header, "timestamp"),
    parentSession,
    metadata: toSourceMetadata({ format: "pi", id, ...presentFields({ fields }) }),
  };
}

class PiFile {
  leaf: string | null | undefined;
  readonly #tree = new PiTree();
  readonly #problems: ProblemLog;
  /** Version 1 has neither ids nor parents. */
  readonly #isLinear: boolean;
  /** The id of every record that could be read, by its number, for version 1's compactions. */
  readonly #order: string[] = [];

  constructor(header: Fields, problems: ProblemLog) {
    this.#problems = problems;
    this.#isLinear = header["type"] === "session" && Number(header["version"] ?? 1) < 2;
  }

  async *read(
    records: AsyncIterable<JsonRecord>,
    first: JsonRecord | undefined,
  ): AsyncGenerator<ImportedEntry> {
    this.#order.push("");
    if (first !== undefined) yield* this.#entry(first);
    for await (const record of records) yield* this.#entry(record);
  }

  *#entry({ record, line }: JsonRecord): Generator<ImportedEntry> {
    const tree = this.#tree;
    if (record["type"] === "session") {
      this.#problems.add("unexpected", "a second header was left out", line);
      return;
    }
    const id = this.#isLinear ? `record-${this.#order.length}` : textField(record, "id");
    if (this.#isLinear) this.#order.push(id ?? "");
    if (id === undefined || id === "") {
      this.#problems.add("unexpected", "the record has no id", line);
      return;
    }
    if (tree.has(id)) {
      this.#problems.add("duplicate_id", `the id ${id} was there before`, line);
      return;
    }
    const mapped = toEntry(this.#isLinear ? this.#withKeptId(record) : record);
    const named = record["parentId"];
    const parentId = named === null || typeof named === "string" ? named : tree.last;
    const isMark = mapped.kind === "custom" && mapped.data?.["type"] === LEAF_MARK;
    if (isMark) {
      this.leaf = parentId === null ? null : tree.nodeAt(parentId);
      return;
    }
    const { parent, found } = tree.add(id, parentId, movesLeaf(mapped.kind));
    if (!found) {
      const message = `its parent ${parentId} is not in the file; it follows the entry before it`;
      this.#problems.add("missing_parent", message, line);
    }
    if (movesLeaf(mapped.kind)) this.leaf = undefined;
    if ("unknown" in mapped.fields) {
      const what = `a record of the type ${JSON.stringify(mapped.fields["unknown"])}`;
      this.#problems.add("unexpected", `${what} was kept as custom data`, line);
    }
    yield this.#placed(mapped, id, parentId, parent, line);
  }

  #placed(
    mapped: MappedEntry,
    id: string,
    parentId: string | null,
    parent: string | null,
    line: number,
  ): ImportedEntry {
    const { fields, data, references = [], ...entry } = mapped;
    const resolved: Record<string, JsonValue> = {};
    const replaced: Record<string, JsonValue> = {};
    for (const name of references) {
      const named = data?.[name] ?? null;
      resolved[name] = typeof named === "string" ? this.#resolve(name, named, line) : null;
      // In version 1 what it named is a number of ours.
      if (resolved[name] !== named && !this.#isLinear) replaced[name] = named;
    }
    return {
      ...entry,
      ...{ sourceId: id, parentSourceId: parent, references },
      data: references.length === 0 ? data : { ...data, ...resolved },
      metadata: toSourceMetadata({
        ...{ format: "pi", id: this.#isLinear ? null : id },
        ...(parentId === parent ? {} : { parentId }),
        ...presentFields({ fields: { ...otherFields(fields, ["unknown"]), ...replaced } }),
      }),
    };
  }

  /** The entry that is meant by `id`, as far as it is in the file. */
  #resolve(name: string, id: string, line: number): string | null {
    const found =
      name === "firstKeptEntryId" ? this.#tree.nodeFrom(id) : this.#tree.has(id) ? id : undefined;
    // An empty id, and a branch from the root, are ways to say that there is none.
    if (found === undefined && id !== "" && id !== "root") {
      this.#problems.add("missing_reference", `${name} names ${id}, which is not there`, line);
    }
    return found ?? null;
  }

  /** Version 1 names the first kept entry by its number, the header being 0. */
  #withKeptId(record: Fields): Fields {
    const index = record["firstKeptEntryIndex"];
    if (record["type"] !== "compaction" || typeof index !== "number") return record;
    const { firstKeptEntryIndex: _, ...rest } = record;
    return { ...rest, firstKeptEntryId: this.#order[index] || null };
  }
}
