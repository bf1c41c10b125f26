/**
 * An answer that lasts, for as long as whoever asked for it may have it.
 *
 * A request is admitted once, at its beginning; a stream of events may go on for days. So it is looked
 * again, now and then, and the stream ends where a token was revoked or has expired. Who comes back is
 * told why.
 */

import { BackscrollError } from "../../model/errors.ts";

/** Throws `unauthorized` or `forbidden` if whoever asked would not be let in now. */
export type AdmitAgain = () => Promise<unknown>;

export function whileAdmitted(
  body: ReadableStream<Uint8Array>,
  admitAgain: AdmitAgain,
  everyMs: number,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const timer = setInterval(() => {
    admitAgain().catch((error: unknown) => {
      // A store that cannot answer now has not said no.
      if (isRefusal(error)) end(error);
    });
  }, everyMs);
  timer.unref();
  const end = (reason: unknown) => {
    clearInterval(timer);
    reader.cancel(reason).catch(() => undefined);
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
        } catch (error) {
          clearInterval(timer);
          throw error;
        }
        clearInterval(timer);
        controller.close();
      },
      cancel: end,
    },
    // Nothing is taken ahead: how much may wait is up to the body itself.
    { highWaterMark: 0 },
  );
}

function isRefusal(error: unknown): boolean {
  return BackscrollError.is(error, "unauthorized") || BackscrollError.is(error, "forbidden");
}
