import { Hono } from "hono";
import { expect, test } from "vitest";
import { createHttpServer } from "./listen.ts";

test("a request may take any time once its headers have come", () => {
  const server = createHttpServer(new Hono());
  expect(server.requestTimeout).toBe(0);
  expect(server.headersTimeout).toBe(60_000);
  expect(server.keepAliveTimeout).toBe(65_000);
});
