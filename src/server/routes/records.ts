/** Records: values under a namespace and a key. Bytes are sent unencoded. */

import { z } from "zod";
import { readBoundedJson } from "../../api/read-json.ts";
import { cutValues, encodeFrame, splitFrame, type WireRecordWrites } from "../../api/records.ts";
import { toWire } from "../../api/shape.ts";
import { fromWireFields } from "../../api/wire.ts";
import type { RecordOperation } from "../../engine/records/record-input.ts";
import type { ListRecordsInput, RecordRecord } from "../../engine/records/records.ts";
import { BackscrollError } from "../../model/errors.ts";
import {
  MAX_NAMESPACE_BYTES,
  MAX_PAGE,
  MAX_RECORD_KEY_BYTES,
  MAX_RECORD_REQUEST_BYTES,
} from "../../model/limits.ts";
import {
  RECORD_INFO,
  RECORD_TYPES,
  type RecordInfo,
  type RecordValue,
} from "../../model/record.ts";
import { readBytes } from "../body.ts";
import { check } from "../check.ts";
import { recordRoute } from "../plain-routes.ts";
import { APPEND_LIMITS, type Caller, defineRoute, type Route } from "../route.ts";
import { count, countQuery, jsonValue, limitQuery } from "../schemas/common.ts";
import { RECORD, RECORD_PAGE, RECORDS_WRITTEN, schemaOf } from "../schemas/shape.ts";

const text = z.string();

const namespace: z.ZodString = z.string().min(1).max(MAX_NAMESPACE_BYTES);

const recordKey: z.ZodString = z.string().min(1).max(MAX_RECORD_KEY_BYTES);

/** A record's options, beside its value. */
const keeping: {
  readonly text: z.ZodOptional<z.ZodNullable<z.ZodString>>;
  readonly ttl: z.ZodOptional<z.ZodNullable<z.ZodNumber>>;
  readonly expected_version: z.ZodOptional<z.ZodNullable<z.ZodString>>;
} = {
  text: text.nullable().optional(),
  ttl: z.number().nullable().optional(),
  expected_version: text.nullable().optional(),
};

const condition = z.strictObject({
  namespace: text,
  key: text,
  expected_version: text.optional(),
});

/** The JSON part of a write: the values follow it. The library checks names. */
const recordWrites: z.ZodType<WireRecordWrites> = z.strictObject({
  operations: z.array(
    z.strictObject({
      put: z
        .strictObject({
          namespace: text,
          key: text,
          type: z.enum(RECORD_TYPES),
          size: count,
          ...keeping,
          version: text.optional(),
        })
        .optional(),
      delete: condition.optional(),
      check: condition.optional(),
    }),
  ),
}) as z.ZodType<WireRecordWrites>;

const OCTETS = "application/octet-stream";

const place = z.strictObject({ namespace, record_key: recordKey });

const info = {
  status: 200,
  description: "The stored record.",
  schema: schemaOf(RECORD_INFO),
} as const;

export const RECORD_ROUTES: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/v1/records/{namespace}",
    operation: "listRecords",
    tag: "records",
    summary: "List the records of a namespace by key, without their values.",
    scope: "read",
    params: z.strictObject({ namespace }),
    query: z.strictObject({
      prefix: z.string().optional(),
      cursor: z.string().optional(),
      limit: limitQuery.optional(),
    }),
    answer: { status: 200, description: "A page of records.", schema: schemaOf(RECORD_PAGE) },
    handle: async ({ tenant }, { params, query }) => {
      const input = { namespace: params.namespace, ...fromWireFields(query) };
      const { records, next } = await tenant.records.list(input as ListRecordsInput);
      return {
        records: toWire([RECORD_INFO], records),
        next_cursor: next ?? null,
      };
    },
  }),
  defineRoute({
    method: "get",
    path: "/v1/records/{namespace}/{record_key}",
    operation: "getRecord",
    tag: "records",
    summary: "One record.",
    scope: "read",
    params: place,
    answer: { status: 200, description: "The record.", schema: schemaOf(RECORD) },
    handle: async ({ tenant }, { params }) => {
      const found = await tenant.records.get(params.namespace, params.record_key);
      const value = found.type === "bytes" ? null : found.value;
      return { ...toWire(RECORD_INFO, found), text: found.text, value };
    },
  }),
  defineRoute({
    method: "put",
    path: "/v1/records/{namespace}/{record_key}",
    operation: "putRecord",
    tag: "records",
    summary: "Store JSON under a key; with `expected_version` by compare-and-swap.",
    scope: "write",
    limits: APPEND_LIMITS,
    params: place,
    body: z.strictObject({ value: jsonValue, ...keeping }),
    answer: info,
    handle: ({ tenant }, { params, body }) =>
      putOne(tenant, params, body.value ?? null, fromWireFields({ ...body, value: undefined })),
  }),
  defineRoute({
    method: "delete",
    path: "/v1/records/{namespace}/{record_key}",
    operation: "deleteRecord",
    tag: "records",
    summary: "Delete a record.",
    scope: "write",
    params: place,
    query: z.strictObject({ expected_version: z.string().optional() }),
    answer: { status: 204, description: "No content." },
    handle: ({ tenant }, { params, query }) =>
      tenant.records.delete(params.namespace, params.record_key, fromWireFields(query)),
  }),
  defineRoute({
    method: "get",
    path: "/v1/records/{namespace}/{record_key}/value",
    operation: "getRecordBytes",
    tag: "records",
    summary: "The value of a record as it is.",
    scope: "read",
    params: place,
    answer: {
      status: 200,
      description: "Its bytes, or its JSON.",
      types: [OCTETS, "application/json"],
    },
    handle: async ({ tenant }, { params }) => {
      const [found] = await tenant.records.readStored(params.namespace, [params.record_key]);
      // Throws the not-found error.
      if (found === undefined) return tenant.records.get(params.namespace, params.record_key);
      return octets(found.bytes ?? new Uint8Array(), {
        "content-type": found.type === "json" ? "application/json" : OCTETS,
        etag: `"${found.version}"`,
      });
    },
  }),
  defineRoute({
    method: "put",
    path: "/v1/records/{namespace}/{record_key}/value",
    operation: "putRecordBytes",
    tag: "records",
    summary: "Keep bytes under a key.",
    scope: "write",
    params: place,
    query: z.strictObject({
      ttl: countQuery.optional(),
      expected_version: z.string().optional(),
    }),
    bytes: "The value: at most 16 MiB.",
    answer: info,
    handle: async (caller, { params, query }) =>
      putOne(caller.tenant, params, await wholeBody(caller), fromWireFields(query)),
  }),
  recordRoute("search", {
    query: z.string(),
    namespace: namespace.optional(),
    prefix: z.string().optional(),
    limit: count.optional(),
  }),
  defineRoute({
    method: "post",
    path: "/v1/records/read",
    operation: "readRecords",
    tag: "records",
    summary: "Some records of a namespace with their values, in one answer.",
    scope: "read",
    body: z.strictObject({
      namespace,
      keys: z.array(recordKey).max(MAX_PAGE).optional(),
      prefix: z.string().optional(),
      cursor: z.string().optional(),
      limit: count.optional(),
    }),
    answer: {
      status: 200,
      description:
        "The length of some JSON in four bytes, the JSON (`records`, `next_cursor`, `left`), then the values one after another.",
      types: [OCTETS],
    },
    handle: async ({ tenant }, { body: { keys, ...range } }) => {
      if (keys !== undefined) {
        const { records, left } = await tenant.records.readFitting(range.namespace, keys);
        return frameOf(records, null, left);
      }
      const input = { ...fromWireFields(range), values: true };
      const { records, next } = await tenant.records.listStored(input as ListRecordsInput);
      return frameOf(records, next ?? null, []);
    },
  }),
  defineRoute({
    method: "post",
    path: "/v1/records/write",
    operation: "writeRecords",
    tag: "records",
    summary: "Put and delete records, atomically.",
    scope: "write",
    bytes:
      "The length of some JSON in four bytes, the JSON (`operations`, each with `put`, `delete` or `check`), then the values one after another.",
    answer: {
      status: 200,
      description: "One for each operation.",
      schema: schemaOf(RECORDS_WRITTEN),
    },
    handle: async (caller) => {
      const operations = await readOperations(caller);
      const infos = await caller.tenant.records.write(operations);
      return { records: infos.map((each) => each && toWire(RECORD_INFO, each)) };
    },
  }),
];

async function putOne(
  tenant: Caller["tenant"],
  { namespace: space, record_key: key }: z.output<typeof place>,
  value: RecordValue,
  options: object,
): Promise<unknown> {
  const [stored] = await tenant.records.write([
    { put: { ...options, namespace: space, key, value } },
  ]);
  return toWire(RECORD_INFO, stored as RecordInfo);
}

async function wholeBody({ request, allowance }: Caller): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readBytes(request, allowance, MAX_RECORD_REQUEST_BYTES)) {
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

async function readOperations(caller: Caller): Promise<RecordOperation[]> {
  const { run } = caller.allowance;
  const frame = splitFrame(await wholeBody(caller));
  if (frame === undefined) throw badFrame("ends inside its JSON");
  const json = await readBoundedJson([frame.json], APPEND_LIMITS, run);
  const { operations } = check(recordWrites, json ?? {}, "body") as WireRecordWrites;
  const sizes = operations.flatMap(({ put }) => (put === undefined ? [] : [put.size]));
  const values = cutValues(frame.rest, sizes);
  if (values === undefined) throw badFrame("has more or fewer bytes of values than its JSON says");
  const result: RecordOperation[] = [];
  let next = 0;
  for (const operation of operations) {
    // The library refuses an operation with several parts.
    const others = fromWireOperation(operation);
    if (operation.put === undefined) {
      result.push(others);
      continue;
    }
    const { type, size: _, ...fields } = operation.put;
    const bytes = values[next++] as Uint8Array;
    const value = type === "bytes" ? bytes : await readBoundedJson([bytes], APPEND_LIMITS, run);
    const put = { ...fromWireFields(fields), value } as RecordOperation["put"] & object;
    result.push({ ...others, put });
  }
  return result;
}

function fromWireOperation({
  delete: gone,
  check: checked,
}: WireRecordWrites["operations"][number]): RecordOperation {
  return {
    ...(gone && { delete: fromWireFields(gone) as RecordOperation["delete"] & object }),
    ...(checked && { check: fromWireFields(checked) as RecordOperation["check"] & object }),
  };
}

function badFrame(what: string): BackscrollError {
  return new BackscrollError(
    "invalid_input",
    `the body ${what}: send the length of the JSON in four bytes, the JSON, then the values`,
    { details: { field: "body" } },
  );
}

function frameOf(
  records: readonly RecordRecord[],
  next: string | null,
  left: readonly string[],
): Response {
  const heads = records.map((each) => ({ ...toWire(RECORD_INFO, each), text: each.text }));
  const values = records.map(({ bytes }) => bytes ?? new Uint8Array());
  return octets(encodeFrame({ records: heads, next_cursor: next, left }, values), {
    "content-type": OCTETS,
  });
}

function octets(bytes: Uint8Array, headers: Record<string, string>): Response {
  return new Response(bytes as Uint8Array<ArrayBuffer>, { headers });
}
