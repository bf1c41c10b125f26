/** Writes in-memory documents as the blobs of a segment. */

import type { SansIo } from "../port.ts";
import type { PackedBlob } from "./blob-packer.ts";
import { FACTS_BLOCK, KEYED_FIELDS, MESSAGE_FIELDS } from "./layout.ts";
import type { MemoryIndex } from "./memory-index.ts";
import { pieces, type SegmentSize, SegmentWriter } from "./segment-writer.ts";

export interface BuiltSegment extends SegmentSize {
  readonly blobs: readonly PackedBlob[];
  readonly documents: number;
}

/** Sessions and notes must be in key order, each once. Messages may be in any order. */
export function* buildSegment(index: MemoryIndex): SansIo<BuiltSegment> {
  const { columns, facts, numbers } = index.messagesInOrder();
  const segment = new SegmentWriter(columns, {
    sessions: index.sessionKeys(),
    memories: index.noteKeys("memory"),
    facts: index.noteKeys("fact"),
    factSessions: index.factSessions(),
  });
  for (const [from, to] of pieces(columns.count, FACTS_BLOCK)) segment.addFacts(facts, from, to);
  for (const field of MESSAGE_FIELDS) {
    const messages = segment.messages(field);
    yield* index.fields[field].writeTo(messages.writer, numbers);
    messages.finish();
  }
  for (const field of KEYED_FIELDS) {
    const keyed = segment.keyed(field, index.lengths(field));
    yield* index.fields[field].writeTo(keyed.writer);
    keyed.finish();
  }
  return { ...segment.finish(), documents: columns.count };
}
