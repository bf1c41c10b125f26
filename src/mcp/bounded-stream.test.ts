import { expect, test } from "vitest";
import { boundedStream } from "./bounded-stream.ts";

function source(): {
  readonly body: ReadableStream<Uint8Array>;
  readonly send: (text: string) => void;
  readonly end: () => void;
  readonly isCancelled: () => boolean;
} {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (each) => {
      controller = each;
    },
    cancel: () => {
      isCancelled = true;
    },
  });
  return {
    body,
    send: (text) => controller?.enqueue(new TextEncoder().encode(text)),
    end: () => controller?.close(),
    isCancelled: () => isCancelled,
  };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

test("who reads gets everything, however much it is", async () => {
  const { body, send, end } = source();
  let drops = 0;
  const bounded = boundedStream(body, 10, () => drops++);
  const text = new Response(bounded).text();
  for (let i = 0; i < 50; i++) {
    send("12345");
    await settled();
  }
  end();
  expect([(await text).length, drops]).toEqual([250, 0]);
});

test("who does not read is dropped once more waits than is allowed", async () => {
  const { body, send, isCancelled } = source();
  let drops = 0;
  const reader = boundedStream(body, 10, () => drops++).getReader();
  send("12345");
  await settled();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe("12345");
  for (const text of ["12345", "12345"]) send(text);
  await settled();
  expect([drops, isCancelled()]).toEqual([0, false]);
  send("6");
  await settled();
  expect([drops, isCancelled()]).toEqual([1, true]);
  await expect(reader.read()).rejects.toThrow("takes nothing");
});

test("a single piece may be larger than the limit", async () => {
  const { body, send, end } = source();
  let drops = 0;
  const bounded = boundedStream(body, 10, () => drops++);
  send("x".repeat(1_000));
  end();
  await settled();
  expect([(await new Response(bounded).text()).length, drops]).toEqual([1_000, 0]);
});

test("who goes is told to the source, and what fails to the reader", async () => {
  const gone = source();
  await boundedStream(gone.body, 10, () => undefined).cancel();
  expect(gone.isCancelled()).toBe(true);
  const failing = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error("the store is gone")),
  });
  const text = new Response(boundedStream(failing, 10, () => undefined)).text();
  await expect(text).rejects.toThrow("the store is gone");
});
