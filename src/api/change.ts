/** A change of the feed on the wire. */

import type { Change, ChangeKind } from "../model/change.ts";
import type { JsonObject } from "../model/json.ts";
import { fromWireFields, fromWireTime, toWireFields, toWireTime } from "./wire.ts";

export interface WireChange {
  readonly position: number;
  readonly cursor: string;
  readonly kind: ChangeKind;
  readonly at: string;
  readonly session_id: string | null;
  readonly entry_id: string | null;
  readonly details: JsonObject;
  readonly hash: string;
}

export function toWireChange(change: Change): WireChange {
  return {
    position: change.position,
    cursor: change.cursor,
    kind: change.kind,
    at: toWireTime(change.at),
    session_id: change.sessionId,
    entry_id: change.entryId,
    details: toWireFields(change.details),
    hash: change.hash,
  };
}

export function fromWireChange(change: WireChange): Change {
  return {
    position: change.position,
    cursor: change.cursor,
    kind: change.kind,
    at: fromWireTime(change.at),
    sessionId: change.session_id,
    entryId: change.entry_id,
    details: fromWireFields(change.details),
    hash: change.hash,
  };
}
