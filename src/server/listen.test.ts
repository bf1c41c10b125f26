import { Hono } from "hono";
import { expect, test } from "vitest";
import { createHttpServer } from "./listen.ts";

test("a body has no time limit once its headers have arrived", () => {
  const server = createHttpServer(new Hono());
  expect(server.requestTimeout).toBe(0);
  expect(server.headersTimeout).toBe(60_000);
  expect(server.keepAliveTimeout).toBe(65_000);
});
