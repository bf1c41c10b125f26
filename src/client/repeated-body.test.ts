import { expect, test } from "vitest";
import { RepeatedBody } from "./repeated-body.ts";

function bodyOf(pieces: readonly string[], limit: number, failure?: Error): RepeatedBody {
  const encoder = new TextEncoder();
  const left = [...pieces];
  const source = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = left.shift();
      if (piece !== undefined) controller.enqueue(encoder.encode(piece));
      else if (failure === undefined) controller.close();
      else controller.error(failure);
    },
  });
  return new RepeatedBody(source, limit);
}

const read = (body: RepeatedBody) => new Response(body.open()).text();

test("sent chunks are repeated from the start, and the source continues from its position", async () => {
  const body = bodyOf(["a", "b", "c"], 100);
  const first = body.open().getReader();
  await first.read();
  await first.cancel();
  expect(await read(body)).toBe("abc");
  expect(await read(body)).toBe("abc");
  expect(body.isRepeatable).toBe(true);
});

test("a piece with waiting readers reaches each of them", async () => {
  const body = bodyOf(["a", "b"], 100);
  const waiting = body.open().getReader().read();
  expect(await read(body)).toBe("ab");
  expect(new TextDecoder().decode((await waiting).value)).toBe("a");
});

test("chunks beyond the limit are not kept, and the body is sent once", async () => {
  const body = bodyOf(["aaaa", "bbbb", "cccc"], 8);
  expect(await read(body)).toBe("aaaabbbbcccc");
  expect(body.isRepeatable).toBe(false);
});

test("a body whose source failed is not repeated", async () => {
  const body = bodyOf(["a"], 100, new Error("the disk is gone"));
  await expect(read(body)).rejects.toThrow("the disk is gone");
  expect(body.isRepeatable).toBe(false);
});
