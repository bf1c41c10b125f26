/** Entries of a remote session: appended together, found by external id, replaced. */

import { toWireEntryInput } from "../api/message-input.ts";
import { fromWire, type WireOf } from "../api/shape.ts";
import type { AppendEntriesOptions } from "../engine/writing/append-entries.ts";
import type { EntryInput } from "../engine/writing/entry-input.ts";
import type { ReplaceSuffixInput } from "../engine/writing/replace-suffix.ts";
import type { Entry } from "../model/entry.ts";
import { ENTRY } from "../model/entry.ts";
import type { Connection } from "./connection.ts";
import {
  at,
  checkBatchBody,
  invalid,
  keyHeader,
  known,
  leafHeader,
  toBody,
  toTimeText,
} from "./request.ts";

interface Entries {
  readonly entries: readonly WireOf<typeof ENTRY>[];
}

export async function appendEntries(
  connection: Connection,
  sessionId: string,
  inputs: readonly EntryInput[],
  options: AppendEntriesOptions,
): Promise<Entry[]> {
  const { expectedLeaf, idempotencyKey, parent, existing } = known(
    "appendEntries.options",
    options,
  );
  const { entries } = await connection.call<Entries>({
    method: "POST",
    path: at`/v1/sessions/${sessionId}/entries/batch`,
    headers: { ...keyHeader(idempotencyKey), ...leafHeader(expectedLeaf) },
    body: checkBatchBody(toBody({ entries: toWire(inputs, "entries"), parent, existing })),
  });
  return entries.map((each) => fromWire(ENTRY, each));
}

export async function replaceSuffix(
  connection: Connection,
  sessionId: string,
  input: ReplaceSuffixInput,
): Promise<Entry[]> {
  const { expected, replacement, key } = known("replaceSuffix", input);
  const { entries } = await connection.call<Entries>({
    method: "POST",
    path: at`/v1/sessions/${sessionId}/suffix`,
    headers: keyHeader(key),
    body: checkBatchBody(toBody({ expected, replacement: toWire(replacement, "replacement") })),
  });
  return entries.map((each) => fromWire(ENTRY, each));
}

function toWire(entries: readonly EntryInput[], field: string): Record<string, unknown>[] {
  if (!Array.isArray(entries)) throw invalid(field, `${field} must be an array`);
  return entries.map((entry: EntryInput, i) => {
    const what = `${field}[${i}]`;
    if (entry?.kind === "custom") known("appendEntries.custom", entry, what);
    else if (entry?.kind === "custom_message") known("appendEntries.customMessage", entry, what);
    else {
      const { kind: _, ...message } = Object(entry) as EntryInput;
      known("append", message, what);
    }
    return toWireEntryInput(entry, toTimeText);
  });
}
