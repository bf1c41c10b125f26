import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createUIMessageStreamResponse,
  parseJsonEventStream,
  type UIMessageChunk,
  uiMessageChunkSchema,
} from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase } from "../../../test/support/postgres.ts";
import { connect } from "../../client/index.ts";
import type { TenantApi } from "../../engine/interfaces.ts";
import { open } from "../../index.ts";
import { openServer } from "../../server/index.ts";
import { type ResumableStreams, resumableStreams } from "./index.ts";

/** Of every kind: text, tool deltas, data. */
const CHUNKS: readonly UIMessageChunk[] = [
  { type: "start", messageId: "m" },
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: "the \ud83d\ude00" },
  { type: "tool-input-start", toolCallId: "c", toolName: "look" },
  { type: "tool-input-delta", toolCallId: "c", inputTextDelta: '{"at"' },
  { type: "data-weather", data: { city: "Oslo" } },
  { type: "text-end", id: "t" },
  { type: "finish" },
];

/** A stream whose chunks come when the test says so. */
function source() {
  let controller: ReadableStreamDefaultController<UIMessageChunk> | undefined;
  const stream = new ReadableStream<UIMessageChunk>({
    start: (own) => {
      controller = own;
    },
  });
  return {
    stream,
    say: (...chunks: readonly UIMessageChunk[]) => {
      for (const chunk of chunks) controller?.enqueue(chunk);
    },
    end: () => controller?.close(),
  };
}

/** The chunks that a reader has received, and whether its stream has ended. */
function reading(chunks: ReadableStream<UIMessageChunk> | null) {
  const got: UIMessageChunk[] = [];
  const state = { ended: false };
  const done = (async () => {
    for await (const chunk of chunks ?? []) got.push(chunk);
    state.ended = true;
  })();
  return { got, state, done };
}

describe.each(["sqlite", "postgres", "client"] as const)("resumable streams on %s", (where) => {
  let here: ResumableStreams;
  /** Another process of the same application. */
  let there: ResumableStreams;
  let first: TenantApi;
  let other: TenantApi;
  const ends: (() => Promise<void> | void)[] = [];

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), "backscroll-streams-"));
    ends.push(() => rmSync(folder, { recursive: true, force: true }));
    const address = where === "postgres" ? await createDatabase() : join(folder, "s.db");
    const [one, two] = [
      await open(address, { inThread: true }),
      await open(address, { inThread: true }),
    ];
    ends.push(
      () => one.close(),
      () => two.close(),
    );
    let nodes: TenantApi[] = [one, two];
    if (where === "client") {
      nodes = [];
      for (const engine of [one, two]) {
        const server = await openServer(engine, { version: "0.0.0", port: 0 });
        const remote = await connect(server.url);
        ends.push(
          () => server.stop(100),
          () => remote.close(),
        );
        nodes.push(remote);
      }
    }
    first = nodes[0] as TenantApi;
    // Longer than any machine stalls: only one test is about a producer that died.
    here = resumableStreams(first, { leaseMs: 60_000 });
    other = nodes[1] as TenantApi;
    there = resumableStreams(other, { leaseMs: 60_000 });
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  test("a reader on another node gets all earlier chunks, then the rest", async () => {
    const { stream, say, end } = source();
    const producer = await here.start("chat");
    const own = reading(producer.pipe(stream));
    say(...CHUNKS.slice(0, 4));
    const late = reading(await there.resume<UIMessageChunk>("chat"));
    await expect.poll(() => late.got).toEqual(CHUNKS.slice(0, 4));
    say(...CHUNKS.slice(4));
    await expect.poll(() => late.got).toEqual(CHUNKS);
    expect(late.state.ended).toBe(false);
    end();
    await Promise.all([late.done, own.done]);
    expect(own.got).toEqual(CHUNKS);
    expect(late.got).toEqual(CHUNKS);
    await expect.poll(() => there.resume("chat")).toBeNull();
    expect((await there.resumeResponse("chat")).status).toBe(204);
  });

  test("storing continues after the requesting page has disconnected", async () => {
    const { stream, say, end } = source();
    const producer = await here.start("gone");
    const page = producer.pipe(stream);
    say(...CHUNKS.slice(0, 2));
    await page.cancel();
    const late = reading(await there.resume<UIMessageChunk>("gone"));
    say(...CHUNKS.slice(2));
    end();
    await late.done;
    expect(late.got).toEqual(CHUNKS);
  });

  test("the SDK's stream is stored, and replayed in the SDK's form", async () => {
    const { stream, say, end } = source();
    const producer = await here.start("sse");
    const response = createUIMessageStreamResponse({
      stream,
      consumeSseStream: (options) => producer.consumeSse(options),
    });
    say(...CHUNKS);
    const resumed = await there.resumeResponse("sse");
    end();
    const parse = async (answer: Response) => {
      const chunks: unknown[] = [];
      const events = parseJsonEventStream({
        stream: answer.body as ReadableStream<Uint8Array>,
        schema: uiMessageChunkSchema,
      });
      for await (const event of events) chunks.push(event.success ? event.value : event.error);
      return chunks;
    };
    expect(await parse(resumed)).toEqual(CHUNKS);
    expect(await parse(response)).toEqual(CHUNKS);
    expect(resumed.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
  });

  test("a stop on another node reaches the producer and the readers", async () => {
    const { stream, say } = source();
    const producer = await here.start("stop");
    producer.pipe(stream).cancel();
    say(...CHUNKS.slice(0, 3));
    const late = reading(await there.resume<UIMessageChunk>("stop"));
    await expect.poll(() => late.got.length).toBe(3);
    expect(await there.stop("stop")).toBe(true);
    await expect.poll(() => producer.signal.aborted).toBe(true);
    say(...CHUNKS.slice(3));
    await late.done;
    expect(late.got).toEqual([...CHUNKS.slice(0, 3), { type: "abort" }]);
    expect(await there.stop("stop")).toBe(false);
    expect(await there.stop("never")).toBe(false);
  });

  test("a stream whose producer died ends with an abort, for every reader", async () => {
    const leaseMs = 1_000;
    const cutOff = { ...other, records: onlyFirst(other) } as unknown as TenantApi;
    const dead = resumableStreams(cutOff, { leaseMs });
    const { stream, say } = source();
    const producer = await dead.start("died");
    void producer.pipe(stream).cancel();
    say(...CHUNKS.slice(0, 3));
    const readers = [first, other].map(async (node) =>
      reading(await resumableStreams(node, { leaseMs }).resume<UIMessageChunk>("died")),
    );
    const [one, two] = await Promise.all(readers);
    await Promise.all([one?.done, two?.done]);
    for (const reader of [one, two]) expect(reader?.got.at(-1)).toEqual({ type: "abort" });
    expect(one?.got).toEqual(two?.got);
    expect(await there.resume("died")).toBeNull();
  });

  test("a new stream of a chat supersedes the previous one", async () => {
    const first = source();
    const old = await here.start("again");
    void old.pipe(first.stream).cancel();
    first.say(...CHUNKS.slice(0, 2));
    const late = reading(await there.resume<UIMessageChunk>("again"));
    await expect.poll(() => late.got.length).toBe(2);
    const second = source();
    const fresh = await there.start("again");
    void fresh.pipe(second.stream).cancel();
    await late.done;
    expect(late.got).toEqual([...CHUNKS.slice(0, 2), { type: "abort" }]);
    await expect.poll(() => old.signal.aborted).toBe(true);
    const next = reading(await here.resume<UIMessageChunk>("again"));
    second.say(...CHUNKS);
    second.end();
    await next.done;
    expect(next.got).toEqual(CHUNKS);
  });
});

/** Records of a process that is cut off after its second write: it is there and is heard of no more. */
function onlyFirst({ records }: TenantApi) {
  let writes = 0;
  return {
    put: (input: never) => records.put(input),
    find: (namespace: string, key: string) => records.find(namespace, key),
    getMany: (namespace: string, keys: readonly string[]) => records.getMany(namespace, keys),
    write: (operations: never) =>
      ++writes > 1 ? new Promise(() => undefined) : records.write(operations),
  };
}
