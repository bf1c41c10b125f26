/** A record of an export as a line of JSON: its fields on the wire, after its type. */

import { toWireEntry } from "../api/entry.ts";
import { toWireRoute } from "../api/gateway.ts";
import { maskEntry, maskFact, maskJson, maskMemory, maskSession, maskText } from "../api/mask.ts";
import { toWireFact, toWireMemory } from "../api/note.ts";
import { toWireRecordInfo } from "../api/record/record.ts";
import { toWireSession } from "../api/session.ts";
import { toWireToken } from "../api/token.ts";
import type { JsonValue } from "../model/json.ts";
import type { ExportedRecord } from "./export-tenant.ts";

/** `raw` leaves secrets unmasked. */
export function toExportLine(record: ExportedRecord, raw: boolean): object {
  const json = (value: JsonValue) => (raw ? value : maskJson(value));
  switch (record.type) {
    case "session":
      return {
        type: record.type,
        ...toWireSession(raw ? record.session : maskSession(record.session)),
      };
    case "entry":
      return { type: record.type, ...toWireEntry(raw ? record.entry : maskEntry(record.entry)) };
    case "fact":
      return { type: record.type, ...toWireFact(raw ? record.fact : maskFact(record.fact)) };
    case "memory":
      return {
        type: record.type,
        ...toWireMemory(raw ? record.memory : maskMemory(record.memory)),
      };
    case "record": {
      const { text, value } = record.record;
      const { type: value_type, ...info } = toWireRecordInfo(record.record);
      return {
        type: record.type,
        ...info,
        value_type,
        text: text === null || raw ? text : maskText(text),
        // Bytes in base64.
        value: value instanceof Uint8Array ? Buffer.from(value).toString("base64") : json(value),
      };
    }
    case "route": {
      const route = toWireRoute(record.route);
      return { type: record.type, ...route, fields: json(route.fields as JsonValue) };
    }
    case "token":
      return { type: record.type, ...toWireToken(record.token) };
  }
}
