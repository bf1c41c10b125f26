/** Whether the server answers: noticed when a request or a live stream breaks, and asked until it does again. */

import { signal } from "@preact/signals";
import { earlyFetch, serverAddress } from "./early-requests.ts";

export const isReachable = signal(true);
/** Counts the times that the server came back: what depends on it is read again. */
export const mended = signal(0);

/** The interval of asking, in milliseconds, and the time in which a server must answer. */
const ASK_MS = 400;
const ANSWER_MS = 800;

let isAsking = false;

/** `fetch` that notices a lost server. */
export const watchedFetch: typeof fetch = async (input, init) => {
  let response: Response;
  try {
    response = await earlyFetch(input, init);
  } catch (error) {
    noticeLoss(error);
    throw error;
  }
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  if (!isStream || response.body === null) return response;
  return new Response(watched(response.body), response);
};

function watched(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
        void askUntilReached();
      } catch (error) {
        controller.error(error);
        noticeLoss(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

export function noticeLoss(error: unknown): void {
  if (error instanceof DOMException && error.name === "AbortError") return;
  void askUntilReached();
}

async function askUntilReached(): Promise<void> {
  if (isAsking) return;
  isAsking = true;
  while (!(await answers())) {
    isReachable.value = false;
    await new Promise((resolve) => setTimeout(resolve, ASK_MS));
  }
  isAsking = false;
  if (isReachable.peek()) return;
  isReachable.value = true;
  mended.value++;
}

async function answers(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    return (await fetch(`${serverAddress()}healthz`, { cache: "no-store", signal })).ok;
  } catch {
    return false;
  }
}
