/**
 * Entries of a file that was exported from our own session: copies, as in a fork.
 *
 * The file claims this itself, and files are untrusted: a line counts as a copy of an entry unless
 * that entry is stored here with other content. A missing entry may still arrive, because files are
 * read in any order.
 */

import type { ImportedEntry, ImportedSession } from "../../ingest/source.ts";
import type { Block } from "../../model/block.ts";
import { kindRules } from "../../model/entry.ts";
import type { ForkOrigin } from "../../store/records.ts";
import { decodeContent } from "../../transcript/content.ts";
import {
  COPIED_PICTURE,
  lineMarkOf,
  type SessionMark,
  sessionMarkOf,
} from "../../transcript/copy-mark.ts";
import type { EngineContext } from "../engine-context.ts";

const ENTRY_ID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/** Agents that keep the marks of messages, but not always those of the session. */
const MARKED_MESSAGES: readonly string[] = ["opencode", "gemini-cli"];

export class ImportedCopies {
  readonly #engine: EngineContext;
  readonly #mark: SessionMark | undefined;

  private constructor(engine: EngineContext, mark: SessionMark | undefined) {
    this.#engine = engine;
    this.#mark = mark;
  }

  /** Undefined for a file without the mark. */
  static of(
    engine: EngineContext,
    session: Pick<ImportedSession, "metadata" | "source">,
  ): ImportedCopies | undefined {
    const mark = sessionMarkOf(session);
    const isMarked = mark !== undefined || MARKED_MESSAGES.includes(session.source);
    return isMarked ? new ImportedCopies(engine, mark) : undefined;
  }

  /** The entry where the session forks off, if it is here. */
  async findFork(): Promise<{ readonly fork: ForkOrigin } | undefined> {
    const { store, tenant } = this.#engine;
    const through = this.#mark?.through ?? "";
    if (!ENTRY_ID.test(through)) return undefined;
    const [point] = (await store.findEntries(tenant, [through], false)).entries;
    if (point === undefined || point.hash === null || point.status !== "committed")
      return undefined;
    if (!kindRules(point.kind).movesLeaf) return undefined;
    return {
      fork: {
        parentSessionId: point.sessionId,
        forkPoint: point.id,
        rootHash: new Uint8Array(Buffer.from(point.hash, "hex")),
      },
    };
  }

  async mark(batch: Iterable<ImportedEntry>): Promise<ImportedEntry[]> {
    const entries = [...batch];
    const ids = entries.flatMap((entry) => lineMarkOf(entry)?.entry ?? []);
    const known = new Set(ids.filter((id) => ENTRY_ID.test(id)));
    const said = await this.#said([...known]);
    return entries.map((entry) => {
      const mark = lineMarkOf(entry);
      if (mark === undefined || entry.kind !== "message") return entry;
      const { entry: id, injected } = mark;
      const marked = injected
        ? { ...entry, metadata: { ...entry.metadata, injected: true } }
        : entry;
      if (id === undefined || !known.has(id)) return marked;
      const original = said.get(id);
      const isSame =
        injected || original === undefined || textsOf(entry.blocks).every((t) => original.has(t));
      return isSame ? { ...marked, copiedFrom: id } : entry;
    });
  }

  /** The content of known entries, except erased ones. */
  async #said(ids: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    if (ids.length === 0) return new Map();
    const { store, tenant } = this.#engine;
    const found = await store.findEntries(tenant, ids, true);
    return new Map(
      found.entries.flatMap(({ id, content }) => {
        if (content === null) return [];
        const { blocks } = decodeContent(content, (hash) => found.payloads.get(hash));
        return [[id, new Set(textsOf(blocks))] as const];
      }),
    );
  }
}

/** Texts and outputs; arguments may be serialised differently. */
function textsOf(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => {
    if (block.type === "text") return [block.text];
    if (block.type !== "tool_result") return [];
    const { output } = block;
    if (typeof output === "string") return [output];
    const texts = textsOf(output);
    const shown = output.map((inner) => (inner.type === "text" ? inner.text : COPIED_PICTURE));
    return [...texts, texts.join("\n"), shown.join("\n")];
  });
}
