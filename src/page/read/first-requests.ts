/** The requests for messages. Without dependencies: the early script sends the first of them, too. */

export const PAGE = 50;
/** Messages around a link's target in the first request: enough for a view. */
const AROUND = 30;

interface PathInput {
  readonly leaf?: string;
}

export interface SessionPlace {
  readonly id: string;
  /** Empty for the active path. */
  readonly leaf: string;
  /** The entry to scroll to; empty for the start. */
  readonly at: string;
}

export function pathInput(leaf: string | undefined): PathInput {
  return leaf === undefined || leaf === "" ? {} : { leaf };
}

export function pageInput(page: number, path: PathInput) {
  return { offset: page * PAGE, limit: PAGE, preview: true, ...path };
}

export function aroundInput(entryId: string, path: PathInput, limit: number = AROUND) {
  return { around: entryId, limit, preview: true, ...path };
}

/** The paths of the requests by which a session opens, as the client writes them. */
export function firstPaths({ id, leaf, at }: SessionPlace): readonly string[] {
  const session = `v1/sessions/${encodeURIComponent(id)}`;
  const path = pathInput(leaf);
  const messages = at === "" ? pageInput(0, path) : aroundInput(at, path);
  return [`${session}/messages?${query(messages)}`, session];
}

function query(input: Readonly<Record<string, string | number | boolean>>): URLSearchParams {
  return new URLSearchParams(Object.entries(input).map(([name, value]) => [name, String(value)]));
}
