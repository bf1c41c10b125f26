/**
 * Responses to requests that `early.ts` sent before the page's script was compiled, by URL.
 *
 * The page's script takes the map when it is evaluated. From then on the early script sends nothing,
 * should it be the later one.
 */

type Answers = Map<string, Promise<Response>>;

const place = globalThis as { backscrollEarly?: Answers };

export function sendEarly(urls: readonly string[]): void {
  if (place.backscrollEarly !== undefined) return;
  place.backscrollEarly = new Map(
    urls.map((url) => {
      const answer = fetch(url, { headers: { accept: "application/json" }, redirect: "error" });
      // The page's own request reports the failure.
      answer.catch(() => undefined);
      return [url, answer] as const;
    }),
  );
}

let answers: Answers = new Map();

/** For the page's script, before it sends requests. `areValid`: the early requests had no token, nor has it. */
export function takeEarlyAnswers(areValid: boolean): void {
  if (areValid) answers = place.backscrollEarly ?? answers;
  place.backscrollEarly = new Map();
}

/** `fetch`, answered from an early request if there is one. Each early response is used once. */
export const earlyFetch: typeof fetch = (input, init) => {
  const url = String(input);
  const early = (init?.method ?? "GET") === "GET" ? answers.get(url) : undefined;
  if (early === undefined) return fetch(input, init);
  answers.delete(url);
  return early;
};

/** An answer that was not taken while its view opened would be stale later. */
export function dropEarlyAnswers(): void {
  answers.clear();
}
