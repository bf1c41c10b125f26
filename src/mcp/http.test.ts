import { expect, test } from "vitest";
import { boundedStream, STREAM_BOUNDS, type StreamBounds } from "./http.ts";

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

/** Zero patience. */
const BOUNDS: StreamBounds = { unreadBytes: 10, patienceMs: 0, mostBytes: 1_000 };

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

test("a reading client gets any amount of data", async () => {
  const { body, send, end } = source();
  let drops = 0;
  const bounded = boundedStream(body, BOUNDS, () => drops++);
  const text = new Response(bounded).text();
  for (let i = 0; i < 50; i++) {
    send("12345");
    await settled();
  }
  end();
  expect([(await text).length, drops]).toEqual([250, 0]);
});

test("a stalled client is dropped once its buffer exceeds the limit", async () => {
  const watched = watch(BOUNDS);
  const { reader, send } = watched;
  send("12345");
  await settled();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe("12345");
  for (const text of ["12345", "12345"]) send(text);
  await settled();
  await expectLastDrop(watched);
});

test("a slow reader is kept until the hard limit", async () => {
  const watched = watch({ ...BOUNDS, patienceMs: 600_000, mostBytes: 50 });
  const { reader, send } = watched;
  for (let i = 0; i < 10; i++) send("12345");
  await settled();
  for (let i = 0; i < 10; i++) {
    await reader.read();
    send("12345");
    await settled();
  }
  await expectLastDrop(watched);
});

test("no client buffers more than 2 MiB, at any reading speed", async () => {
  const { reader, send, outcome } = watch(STREAM_BOUNDS);
  const piece = "x".repeat(128 * 1024);
  let sent = 0;
  for (; sent < 20 * 1024 * 1024 && outcome()[0] === 0; sent += piece.length) {
    send(piece);
    await settled();
    if (outcome()[0] === 0) await reader.read();
  }
  // The part read is an eighth.
  expect(sent).toBeLessThan(2.6 * 1024 * 1024);
});

test("a large piece is sent in chunks, so that reading shows progress", async () => {
  const { body, send, end } = source();
  const reader = boundedStream(body, BOUNDS, () => undefined).getReader();
  send("x".repeat(40_000));
  end();
  const sizes: number[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    sizes.push(value.length);
  }
  expect(sizes).toEqual([16_384, 16_384, 7_232]);
});

test("a single piece may be larger than the limit", async () => {
  const { body, send, end } = source();
  let drops = 0;
  const bounded = boundedStream(body, BOUNDS, () => drops++);
  send("x".repeat(1_000));
  end();
  await settled();
  expect([(await new Response(bounded).text()).length, drops]).toEqual([1_000, 0]);
});

test("the source learns that its client left, and the reader that its source failed", async () => {
  const gone = source();
  await boundedStream(gone.body, BOUNDS, () => undefined).cancel();
  expect(gone.isCancelled()).toBe(true);
  const failing = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error("the store is gone")),
  });
  const text = new Response(boundedStream(failing, BOUNDS, () => undefined)).text();
  await expect(text).rejects.toThrow("the store is gone");
});

/** A bounded stream and the fate of its reader. */
function watch(bounds: StreamBounds) {
  const { body, send, isCancelled } = source();
  let drops = 0;
  const reader = boundedStream(body, bounds, () => drops++).getReader();
  return { reader, send, outcome: () => [drops, isCancelled()] };
}

/** The last size that keeps a reader: one byte more drops it. */
async function expectLastDrop({ reader, send, outcome }: ReturnType<typeof watch>): Promise<void> {
  expect(outcome()).toEqual([0, false]);
  send("6");
  await settled();
  expect(outcome()).toEqual([1, true]);
  await expect(reader.read()).rejects.toThrow("takes nothing");
}
