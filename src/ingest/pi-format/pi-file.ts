/**
 * The format of pi's session files, which other agents write as well: JSON lines, a header and then
 * a tree of records.
 *
 * Version 3 is the newest; version 2 differs in a role's name, version 1 has no ids. The leaf is
 * the last entry that moves it here: in pi any last line is the leaf, so that a rename by a stale
 * process can hide the conversation.
 */

import type { JsonObject, JsonValue } from "../../model/json.ts";
import { RecentMap } from "../../model/recent-map.ts";
import { LEAF_MARK, toSourceMetadata } from "../../transcript/source-fields.ts";
import { batched, KEPT_IDS, splitAhead } from "../batches.ts";
import { KnownIds } from "../drafts.ts";
import {
  type Fields,
  nameOf,
  otherFields,
  presentFields,
  textField,
  timeField,
} from "../fields.ts";
import { firstRecord, textOfHead } from "../head.ts";
import { type JsonRecord, ResumedLines, readRecordBatches } from "../jsonl.ts";
import { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession, ImportedTranscript, SourceInput } from "../source.ts";
import { type MappedEntry, movesLeaf, toEntry } from "./pi-entry.ts";

/** Whether a file that begins with `head` begins with a header. */
export function hasPiHeader(head: Uint8Array): boolean {
  const first = firstRecord(head);
  if (first !== undefined) return first["type"] === "session" && typeof first["id"] === "string";
  // The header exceeds the head.
  const text = textOfHead(head);
  return /^\s*\{[^\n]{0,200}"type"\s*:\s*"session"/.test(text);
}

/** Where gateways built upon pi keep the sessions of their agents. */
export function isGatewayPath(path: string): boolean {
  return /(^|[/\\])agents[/\\][^/\\]+[/\\]sessions[/\\][^/\\]+$/.test(path);
}

/** A file is one session; `finish` adds further fields. */
export function readPiFile(
  input: SourceInput,
  finish: (session: ImportedSession) => Promise<ImportedSession>,
): ImportedTranscript {
  const problems = new ProblemLog();
  const { resume } = input;
  let header = resume?.["header"] as JsonObject | undefined;
  let file: PiFile | undefined;
  const lines = new ResumedLines(() => ({
    ...(header === undefined ? {} : { header }),
    ...(file === undefined ? {} : { file: file.state() }),
  }));
  const isMasked = () => file?.isMasked ?? false;
  async function* sessions(): AsyncGenerator<ImportedSession> {
    const isKnown = header !== undefined;
    const { ahead, rest } = await splitAhead(
      readRecordBatches(lines.read(input.lines), problems),
      (read) => isKnown || read.length > 0,
    );
    let [first] = ahead;
    if (header === undefined) {
      if (first === undefined) return;
      const isHeader = first.record["type"] === "session";
      if (!isHeader) problems.add("missing_header", "the file begins without a header", first.line);
      header = isHeader ? (first.record as JsonObject) : {};
      if (isHeader) first = undefined;
    }
    file = new PiFile(header, problems, resume?.["file"] as JsonObject | undefined);
    const entries = batched(file.read(rest, first));
    const leaf = () => file?.leaf;
    yield await finish({ ...toSession(header), entries, leaf, problems });
  }
  return {
    sessions: sessions(),
    problems,
    isLost: () => file?.isLost ?? false,
    // A file without a header is identified by its name; it may still turn out to be another
    // session.
    state: () => (header?.["type"] === "session" && !isMasked() ? lines.state() : undefined),
  };
}

function toSession(header: Fields): Omit<ImportedSession, "entries" | "leaf" | "problems"> {
  const id = textField(header, "id") ?? null;
  const parentSession =
    textField(header, "parentSession") ?? textField(header, "branchedFrom") ?? null;
  // The header, without fields mapped elsewhere.
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

/** Fields of a record that hold references. */
const NAMING = ["parentId", "firstKeptEntryId", "fromId", "targetId"];

class PiFile {
  leaf: string | null | undefined;
  /** A reference to a record that a resumed reading does not know: the whole file must be read. */
  isLost = false;
  readonly #tree: PiTree;
  readonly #problems: ProblemLog;
  readonly #ids: KnownIds;
  /** Version 1 has neither ids nor parents. */
  readonly #isLinear: boolean;
  /** The number of readable records of version 1, which are identified by number. */
  #records: number;

  constructor(header: Fields, problems: ProblemLog, state: JsonObject = {}) {
    this.#problems = problems;
    this.#ids = new KnownIds(problems);
    this.#isLinear = header["type"] === "session" && Number(nameOf(header["version"] ?? 1)) < 2;
    this.#tree = PiTree.from(state["tree"]);
    this.#records = Math.max(0, Number(state["records"] ?? 0));
    if (state["leaf"] !== undefined) this.leaf = state["leaf"] as string | null;
  }

  /** Whether ids repeat: then only the whole file tells them apart. */
  get isMasked(): boolean {
    return this.#ids.areMasked;
  }

  /** Valid between two lines. */
  state(): JsonObject {
    return {
      tree: this.#tree.state(),
      records: this.#records,
      ...(this.leaf === undefined ? {} : { leaf: this.leaf }),
    };
  }

  async *read(
    rest: AsyncIterable<Iterable<JsonRecord>>,
    first: JsonRecord | undefined,
  ): AsyncGenerator<Iterable<ImportedEntry>> {
    if (first !== undefined) yield this.#entry(first);
    for await (const records of rest) {
      yield this.#batch(records);
      if (this.isLost) return;
    }
  }

  *#batch(records: Iterable<JsonRecord>): Generator<ImportedEntry> {
    for (const record of records) {
      this.isLost ||= this.#namesLost(record.record);
      if (this.isLost) return;
      yield* this.#entry(record);
    }
  }

  #namesLost(record: Fields): boolean {
    const index = record["firstKeptEntryIndex"];
    if (typeof index === "number" && this.#tree.isLost(`record-${index}`)) return true;
    return NAMING.some((name) => {
      const id = record[name];
      return typeof id === "string" && id !== "" && id !== "root" && this.#tree.isLost(id);
    });
  }

  *#entry({ record, line }: JsonRecord): Generator<ImportedEntry> {
    const tree = this.#tree;
    if (record["type"] === "session") {
      this.#problems.add("unexpected", "a second header was left out", line);
      return;
    }
    const id = this.#isLinear ? `record-${++this.#records}` : textField(record, "id");
    if (id === undefined || id === "") {
      this.#problems.add("unexpected", "the record has no id", line);
      return;
    }
    if (!this.#ids.isNew(id, record, line)) return;
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
      const message = `its parent ${parentId} is not in the file; attached to the previous entry`;
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
      // In version 1 the reference is one of our numbers.
      if (resolved[name] !== named && !this.#isLinear) replaced[name] = named;
    }
    return {
      ...entry,
      sourceId: id,
      parentSourceId: parent,
      references,
      data: references.length === 0 ? data : { ...data, ...resolved },
      metadata: toSourceMetadata({
        format: "pi",
        id: this.#isLinear ? null : id,
        ...(parentId === parent ? {} : { parentId }),
        ...presentFields({ fields: { ...otherFields(fields, ["unknown"]), ...replaced } }),
      }),
    };
  }

  /** The entry that `id` refers to, if it is in the file. */
  #resolve(name: string, id: string, line: number): string | null {
    const found =
      name === "firstKeptEntryId" ? this.#tree.nodeFrom(id) : this.#tree.has(id) ? id : undefined;
    // An empty id, and a branch from the root, mean none.
    if (found === undefined && id !== "" && id !== "root") {
      this.#problems.add("missing_reference", `${name} refers to ${id}, which is missing`, line);
    }
    return found ?? null;
  }

  /** Version 1 names the first kept entry by its number, the header being 0. */
  #withKeptId(record: Fields): Fields {
    const index = record["firstKeptEntryIndex"];
    if (record["type"] !== "compaction" || typeof index !== "number") return record;
    const { firstKeptEntryIndex: _, ...rest } = record;
    const isKnown = Number.isInteger(index) && index >= 1 && index <= this.#records;
    return { ...rest, firstKeptEntryId: isKnown ? `record-${index}` : null };
  }
}

/**
 * The place of an entry of pi's tree in ours.
 *
 * In pi every record is a node: a label can be the parent of a message. Here a record that does not
 * move the leaf is an annotation of its parent's entry, without children. So a child of an
 * annotation becomes a child of the annotated entry, and a compaction that keeps "from this record
 * on" keeps from the next entry on.
 */
interface TreePlace {
  /** The nearest ancestor that moves the leaf; null for a root. */
  readonly parent: string | null;
  /** False if the named parent is not in the file. */
  readonly found: boolean;
}

interface Annotation {
  /** The record that it follows, and the first entry after it. */
  readonly parent: string | null;
  next?: string;
}

/** Newest records whose places the resume state keeps. */
const RECENT = 256;

export class PiTree {
  /** Every id, with its entry: itself, if it moves the leaf. */
  readonly #places: RecentMap<string, string | null>;
  readonly #annotations: RecentMap<string, Annotation>;
  #last: string | null = null;
  #lastNode: string | null = null;

  /** Whether earlier records were read before and are no longer known. */
  #isPart = false;

  /** `limit` is the number of known records; older ones count as missing. */
  constructor(limit: number = KEPT_IDS) {
    this.#places = new RecentMap(limit);
    this.#annotations = new RecentMap(limit);
  }

  /** The number of known records and annotations. */
  get size(): number {
    return this.#places.size + this.#annotations.size;
  }

  /** The resume state: a few kilobytes, however long the file. */
  state(): JsonObject {
    const places = [...this.#places].slice(-RECENT);
    const notes = places.flatMap(([id]) => {
      const annotation = this.#annotations.get(id);
      if (annotation === undefined) return [];
      return [[id, annotation.parent, annotation.next ?? null] as const];
    });
    const isPart = this.#isPart || this.#places.size > RECENT;
    return { places, notes, last: this.#last, lastNode: this.#lastNode, isPart };
  }

  static from(state: JsonValue | undefined): PiTree {
    const tree = new PiTree();
    if (state === undefined) return tree;
    const { places, notes, last, lastNode, isPart } = state as unknown as {
      readonly places: readonly (readonly [string, string | null])[];
      readonly notes: readonly (readonly [string, string | null, string | null])[];
      readonly last: string | null;
      readonly lastNode: string | null;
      readonly isPart: boolean;
    };
    for (const [id, node] of places) tree.#places.set(id, node);
    for (const [id, parent, next] of notes) {
      tree.#annotations.set(id, next === null ? { parent } : { parent, next });
    }
    tree.#last = last;
    tree.#lastNode = lastNode;
    tree.#isPart = isPart;
    return tree;
  }

  /** Whether `id` may belong to a record that was read before and is no longer known. */
  isLost(id: string): boolean {
    return this.#isPart && !this.#places.has(id);
  }

  /** The previous record's id, annotations included: the parent of a record without one. */
  get last(): string | null {
    return this.#last;
  }

  has(id: string): boolean {
    return this.#places.has(id);
  }

  add(id: string, parentId: string | null, movesLeaf: boolean): TreePlace {
    const known = parentId === null ? null : this.#places.get(parentId);
    const found = known !== undefined;
    const parent = found ? known : this.#lastNode;
    if (movesLeaf) {
      this.#passAnnotations(parentId, id);
      this.#places.set(id, id);
      this.#lastNode = id;
    } else {
      this.#places.set(id, parent);
      this.#annotations.set(id, { parent: parentId });
    }
    this.#last = id;
    return { parent, found };
  }

  /** The entry that moves the leaf at or after `id`; undefined if none. */
  nodeFrom(id: string): string | undefined {
    return this.#places.get(id) === id ? id : this.#annotations.get(id)?.next;
  }

  /** The entry that moves the leaf at or before `id`; undefined if `id` is not in the file. */
  nodeAt(id: string): string | null | undefined {
    return this.#places.get(id);
  }

  /** The entry is the first after the annotations between it and its parent. */
  #passAnnotations(parentId: string | null, node: string): void {
    let passed = parentId === null ? undefined : this.#annotations.get(parentId);
    // Those before one that was passed already were passed with it. Repeated ids may form a circle.
    while (passed !== undefined && passed.next === undefined) {
      passed.next = node;
      passed = passed.parent === null ? undefined : this.#annotations.get(passed.parent);
    }
  }
}
