import { expect, test } from "vitest";
import { CLASSES, translatePostgresError } from "./postgres-errors.ts";

/** Every class of Appendix A of the manual: of PostgreSQL 18, and 72 of versions up to 16. */
const APPENDIX_A =
  "00 01 02 03 08 09 0A 0B 0F 0L 0P 0Z 10 20 21 22 23 24 25 26 27 28 2B 2D 2F 34 38 39 3B 3D 3F 40 42 44 53 54 55 57 58 72 F0 HV P0 XX".split(
    " ",
  );

/** An error as the driver throws it. */
function serverError(code: string, severity: "ERROR" | "FATAL" | "PANIC", message = "why") {
  return Object.assign(new Error(message), { code, severity });
}

function codeOf(error: Error): unknown {
  const translated = translatePostgresError(error, "postgres://host/db");
  return translated === error ? "unmapped" : (translated as { code: unknown }).code;
}

test("every class of SQLSTATEs is in the table, mapped or named as unmapped", () => {
  expect(Object.keys(CLASSES).sort()).toEqual(APPENDIX_A.toSorted());
});

test("errors of these classes are for callers; others pass as they are", () => {
  const mapped = APPENDIX_A.flatMap((each) => {
    const code = codeOf(serverError(`${each}000`, "ERROR"));
    return code === "unmapped" ? [] : [`${each} ${code}`];
  });
  expect(mapped).toEqual([
    "08 store_unavailable",
    "28 store_unavailable",
    "3D store_not_found",
    "40 store_busy",
    "53 store_busy",
    "57 store_unavailable",
    "58 store_unavailable",
    "72 store_busy",
  ]);
});

test("an error that ends the connection is for callers, whatever its class", () => {
  const codes = APPENDIX_A.map((each) => codeOf(serverError(`${each}000`, "FATAL")));
  expect(codes).not.toContain("unmapped");
  expect(codeOf(serverError("XX000", "PANIC"))).toBe("store_unavailable");
});

test.each([
  "server login has been failing, try again later (server_login_retry)",
  "server login has been failing, cached error: connect failed (server_login_retry)",
  "server conn crashed?",
  "query_wait_timeout",
  "client_login_timeout",
  "pgbouncer cannot connect to server",
  "no more connections allowed (max_client_conn)",
  "bouncer config error",
  "the database system is shutting down",
])("a pooler that ends the connection is store_unavailable, in its own words: %s", (message) => {
  expect(translatePostgresError(serverError("08P01", "FATAL", message), "here")).toMatchObject({
    code: "store_unavailable",
    message: expect.stringContaining(message),
    details: { sqlstate: "08P01", address: "here" },
  });
});

test("a message of ours that breaks the protocol is no outage", () => {
  const error = serverError("08P01", "ERROR", "bind message supplies 1 parameters, but …");
  expect(translatePostgresError(error, "here")).toBe(error);
});

test.each([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "ETIMEDOUT",
  "EPIPE",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETUNREACH",
  "ENETDOWN",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_WRITE_AFTER_END",
])("the network's %s is store_unavailable", (code) => {
  expect(codeOf(Object.assign(new Error("write failed"), { code }))).toBe("store_unavailable");
});

test.each([
  "Connection terminated",
  "Connection terminated unexpectedly",
  "Connection terminated due to connection timeout",
  "timeout exceeded when trying to connect",
  "timeout expired",
  "Query read timeout",
  "Client has encountered a connection error and is not queryable",
  "Client was closed and is not queryable",
  "The server does not support SSL connections",
])("the driver's error is store_unavailable: %s", (message) => {
  expect(codeOf(new Error(message))).toBe("store_unavailable");
});

test("a socket file that is gone is an outage, another missing file is not", () => {
  const missing = Object.assign(new Error("ENOENT"), { code: "ENOENT", syscall: "connect" });
  expect(codeOf(missing)).toBe("store_unavailable");
  expect(codeOf(Object.assign(missing, { syscall: "open" }))).toBe("unmapped");
});
