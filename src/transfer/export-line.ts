/** A record of an export as a line of JSON: its fields on the wire, after its type. */

import { maskEntry, maskFact, maskJson, maskMemory, maskSession, maskText } from "../api/mask.ts";
import { toWireSession } from "../api/session.ts";
import { toWire } from "../api/shape.ts";
import { ACCESS_TOKEN } from "../model/access.ts";
import { ENTRY } from "../model/entry.ts";
import type { JsonValue } from "../model/json.ts";
import { FACT, MEMORY } from "../model/note.ts";
import { RECORD_INFO } from "../model/record.ts";
import { SESSION_ROUTE } from "../model/route.ts";
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
      return { type: record.type, ...toWire(ENTRY, raw ? record.entry : maskEntry(record.entry)) };
    case "fact":
      return { type: record.type, ...toWire(FACT, raw ? record.fact : maskFact(record.fact)) };
    case "memory":
      return {
        type: record.type,
        ...toWire(MEMORY, raw ? record.memory : maskMemory(record.memory)),
      };
    case "record": {
      const { text, value } = record.record;
      const { type: value_type, ...info } = toWire(RECORD_INFO, record.record);
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
      const route = toWire(SESSION_ROUTE, record.route);
      return { type: record.type, ...route, fields: json(route.fields as JsonValue) };
    }
    case "token":
      return { type: record.type, ...toWire(ACCESS_TOKEN, record.token) };
  }
}
