/**
 * Ends a long response when its caller's access ends.
 *
 * A request is authenticated at its start, but an event stream may last for days. So access is
 * checked again periodically, and the stream ends when the token is revoked or expired. A reconnect
 * gets the reason.
 */

import { BackscrollError } from "../../model/errors.ts";

/** Throws `unauthorized` or `forbidden` if the caller would be refused now. */
export type AdmitAgain = () => Promise<unknown>;

export function whileAdmitted(
  body: ReadableStream<Uint8Array>,
  admitAgain: AdmitAgain,
  everyMs: number,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const timer = setInterval(() => {
    admitAgain().catch((error: unknown) => {
      // An unavailable store is no refusal.
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
    // No read-ahead: the body itself bounds its buffer.
    { highWaterMark: 0 },
  );
}

function isRefusal(error: unknown): boolean {
  return BackscrollError.is(error, "unauthorized") || BackscrollError.is(error, "forbidden");
}
