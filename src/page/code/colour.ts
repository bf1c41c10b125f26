/** Requests tokens from the worker and inserts them as elements: code is never parsed as HTML. */

/** The worker's file name, which the build defines. */
declare const __WORKER__: string;

/** In characters: longer code is not highlighted. */
const MAX_CODE = 50_000;
const KNOWN_LANGUAGE = /^[\w+#-]{1,20}$/;

const waiting = new Map<number, (tokens: readonly Token[]) => void>();
let worker: Worker | undefined;
let asked = 0;

/** Highlights the content of `place`, unless it has changed when the tokens arrive. */
export function colour(place: HTMLElement, language: string): void {
  const code = place.textContent ?? "";
  if (code.length > MAX_CODE || !KNOWN_LANGUAGE.test(language)) return;
  const id = ++asked;
  waiting.set(id, (tokens) => {
    if (tokens.length === 0 || place.textContent !== code) return;
    place.replaceChildren(...tokens.map(element));
  });
  const question: CodeQuestion = { id, code, language: language.toLowerCase() };
  worker ??= start();
  worker.postMessage(question);
}

function start(): Worker {
  const started = new Worker(scriptAddress() as unknown as URL, { type: "module" });
  started.addEventListener("message", ({ data }: MessageEvent<CodeAnswer>) => {
    waiting.get(data.id)?.(data.tokens);
    waiting.delete(data.id);
  });
  return started;
}

interface Policies {
  createPolicy(
    name: string,
    rules: { createScriptURL(address: string): string },
  ): { createScriptURL(address: string): unknown };
}

/** Trusted Types require a policy for a worker's URL; this policy admits this URL only. */
function scriptAddress(): unknown {
  const address = new URL(__WORKER__, import.meta.url).href;
  const policies = (globalThis as { readonly trustedTypes?: Policies }).trustedTypes;
  if (policies === undefined) return address;
  return policies
    .createPolicy("backscroll-worker", { createScriptURL: () => address })
    .createScriptURL(address);
}

function element([scope, text]: Token): Node {
  if (scope === "") return document.createTextNode(text);
  const span = document.createElement("span");
  span.className = `c-${scope.split(/[.:]/)[0]}`;
  span.textContent = text;
  return span;
}

/** The messages between the page and the highlighting worker. */
export interface CodeQuestion {
  readonly id: number;
  readonly code: string;
  readonly language: string;
}

/** A scope such as `keyword`, empty for none, and its text. */
export type Token = readonly [scope: string, text: string];

export interface CodeAnswer {
  readonly id: number;
  /** Empty if the language is not known. */
  readonly tokens: readonly Token[];
}
