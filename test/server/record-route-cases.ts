/** The requests of `route-cases.ts` for records and originals, whose bodies are bytes. */

import { encodeFrame } from "../../src/api/records.ts";
import type { Ids, RouteCase } from "./route-cases.ts";

export const RECORD_ROUTE_CASES: Readonly<Record<string, (ids: Ids) => RouteCase>> = {
  listRecords: () => ({ path: "/v1/records/n?prefix=p", stranger: "empty" }),
  getRecord: () => ({ path: "/v1/records/n/place", stranger: "empty" }),
  getRecordBytes: () => ({ path: "/v1/records/n/place/value", stranger: "empty" }),
  putRecord: () => ({
    path: "/v1/records/n/a%2Fslash",
    body: { value: { a: [1, null] }, text: "some words", ttl: 60 },
    stranger: "empty",
  }),
  putRecordBytes: () => ({ path: "/v1/records/n/bytes/value", bytes: "any", stranger: "empty" }),
  deleteRecord: () => ({ path: "/v1/records/n/doomed", stranger: "empty" }),
  searchRecords: () => ({ path: "/v1/records/search", body: { query: "word" }, stranger: "empty" }),
  readRecords: () => ({
    path: "/v1/records/read",
    body: { namespace: "n", keys: ["place", "nothing"] },
    stranger: "empty",
  }),
  putOriginal: ({ session }) => ({
    path: "/v1/ingest/originals",
    body: {
      workstation: "desk",
      path: "/srv/a.jsonl",
      source: "pi",
      reader: 1,
      size: 1,
      mtime_us: 5,
      session_ids: [session],
      from: 0,
      parts: [{ start: 0, size: 1, bytes: "AAAA" }],
    },
    stranger: "session_not_found",
  }),
  listOriginals: () => ({ path: "/v1/ingest/originals/find", body: {}, stranger: "empty" }),
  readOriginalPart: () => ({
    path: "/v1/ingest/originals/read",
    body: { workstation: "desk", path: "/srv/a.jsonl", start: 0 },
    stranger: "empty",
  }),
  writeRecords: () => ({ path: "/v1/records/write", bytes: writes(), stranger: "empty" }),
};

function writes(): string {
  const put = { namespace: "n", key: "written", type: "bytes", size: 3 };
  return Buffer.from(encodeFrame({ operations: [{ put }] }, [Buffer.from("abc")])).toString();
}
