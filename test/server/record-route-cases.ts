/** The requests of `route-cases.ts` for records. */

import { encodeFrame } from "../../src/api/record-frame.ts";
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
  writeRecords: () => ({ path: "/v1/records/write", bytes: writes(), stranger: "empty" }),
};

function writes(): string {
  const put = { namespace: "n", key: "written", type: "bytes", size: 3 };
  return Buffer.from(encodeFrame({ operations: [{ put }] }, [Buffer.from("abc")])).toString();
}
