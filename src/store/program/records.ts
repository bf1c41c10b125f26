/** Records: a key-value store with compare-and-swap on versions. */

import type { RecordInfo } from "../../model/record.ts";
import { sha256 } from "../../transcript/hash.ts";
import { planExpired, planRecords, type RecordPlan } from "../record/plan-records.ts";
import type {
  ReadRecordsRequest,
  RecordPlace,
  RecordRange,
  RecordRecord,
  WriteRecordsRequest,
} from "../record/record-port.ts";
import { cutPage, endOfPrefix, toCurrent, toRecord } from "../record/record-row.ts";
import type { Row } from "../records.ts";
import type { Program, ProgramPort } from "./port.ts";
import type { RECORDS_SQL } from "./tables.ts";

type Port = ProgramPort<
  keyof typeof RECORDS_SQL | "info" | "text" | "all" | "lockTenant" | "delete"
>;

export function* writeRecords(
  port: Port,
  request: WriteRecordsRequest,
): Program<readonly (RecordInfo | null)[]> {
  yield* port.ensureTenant(request.now);
  const places = request.operations.map(addressOf);
  const rows = yield* port.rowsAt("info", places, ["lockTenant"]);
  const plan = planRecords(rows.map(toCurrent), request);
  executePlan(port, plan);
  return plan.results;
}

export function* readRecords(
  port: Port,
  { which, now, parts, maxBytes }: ReadRecordsRequest,
): Program<{ readonly records: readonly RecordRecord[]; readonly more: boolean }> {
  const isLive = ({ expiresAt }: RecordInfo) => expiresAt === null || expiresAt > now;
  if ("limit" in which) {
    const rows = yield* rangeOf(port, which, now);
    const { page, more } = cutPage(rows.map(toCurrent), which, parts);
    let whole = rows.slice(0, page.length);
    if (parts !== "info" && which.namespace === undefined) {
      whole = [...(yield* port.rowsAt(parts, page.map(addressOf)))];
    } else if (parts !== "info" && page.length > 0) {
      const [first, last] = [page[0]?.key ?? "", page.at(-1)?.key ?? ""];
      whole = [...(yield* port.rows("pageValues", which.namespace ?? "", first, last, now))];
    }
    return { records: whole.map(toRecord), more };
  }
  const places = which.map(addressOf);
  if (maxBytes === undefined) {
    const rows = yield* port.rowsAt(parts, places);
    return { records: rows.map(toRecord).filter(isLive), more: false };
  }
  const live = (yield* port.rowsAt("info", places)).map(toCurrent).filter(isLive);
  const { page, more } = cutPage(live, { limit: which.length, maxBytes }, parts);
  return { records: (yield* port.rowsAt(parts, page.map(addressOf))).map(toRecord), more };
}

/** Deletes up to `limit` expired records; gives their number. */
export function* deleteExpiredRecords(port: Port, now: number, limit: number): Program<number> {
  const [, rows = []] = yield* port.together(["lockTenant"], ["expired", now, limit]);
  const plan = planExpired(rows.map(toCurrent), now);
  executePlan(port, plan);
  return plan.deletes.length;
}

function* rangeOf(
  port: Port,
  { namespace, prefix, after, limit }: RecordRange,
  now: number,
): Program<readonly Row[]> {
  const [afterNamespace, afterKey] = [after?.namespace ?? "", after?.key ?? ""];
  return namespace === undefined
    ? yield* port.rows("everything", afterNamespace, afterKey, now, limit + 1)
    : yield* port.rows("page", namespace, afterKey, prefix, endOfPrefix(prefix), now, limit + 1);
}

function executePlan(port: Port, plan: RecordPlan): void {
  if (plan.changes.length === 0) return;
  if (plan.deletes.length > 0) port.runEach("delete", [], plan.deletes.map(addressOf));
  for (const { info, value } of plan.puts) {
    const { namespace, key, version, size, expiresAt, createdAt, updatedAt } = info;
    const { buffer, byteOffset, byteLength } = value.bytes;
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    const text = value.text === null ? null : Buffer.from(JSON.stringify(value.text));
    const facts = [
      value.isJson ? 1 : 0,
      size,
      sha256(value.bytes),
      expiresAt,
      createdAt,
      updatedAt,
    ];
    port.run("put", namespace, key, version, ...facts, text, bytes);
  }
  port.writeFeed(plan.changes, { contentBytes: plan.contentBytes });
}

function addressOf({ namespace, key }: RecordPlace): readonly [string, string] {
  return [namespace, key];
}
