/**
 * Enforces a minimum rate of arrival: a sender that trickles bytes would otherwise hold its
 * connection and memory indefinitely.
 *
 * A leaky bucket of waiting time, after Apache's `mod_reqtimeout`: it holds `patienceMs`, waiting
 * for bytes drains it, and every 500 bytes that arrive put a second back. Only time spent waiting
 * for bytes counts, so a slow server cuts no sender off.
 */

import { BackscrollError } from "../../model/errors.ts";

/** Half of Node's limit for a request's headers, because a body has a minimum rate too. */
export const BODY_PATIENCE_MS = 30_000;
const BYTES_PER_MS = 0.5;

export async function* pacedBody(
  body: ReadableStream<Uint8Array>,
  patienceMs: number,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let left = patienceMs;
  let isOver = false;
  try {
    for (;;) {
      const asked = performance.now();
      const { done, value } = await withinPatience(reader.read(), left);
      if (done) {
        isOver = true;
        return;
      }
      const waited = performance.now() - asked;
      left = Math.min(patienceMs, left - waited + value.length / BYTES_PER_MS);
      yield value;
    }
  } finally {
    // Closing the connection discards the rest.
    if (!isOver) void reader.cancel().catch(() => undefined);
  }
}

/** Throws `request_timeout` if `reading` is not done by then. */
export async function withinPatience<Result>(
  reading: Promise<Result>,
  patienceMs: number,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow(patienceMs)), Math.max(1, patienceMs));
  });
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
    // The abandoned read may still reject.
    reading.catch(() => undefined);
  }
}

function tooSlow(patienceMs: number): BackscrollError {
  return new BackscrollError(
    "request_timeout",
    `the body arrived too slowly: nothing within ${Math.round(patienceMs)} ms; send it again`,
    { details: { field: "body" } },
  );
}
