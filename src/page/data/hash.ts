/** The fragment of the page's address as a value. Without dependencies: the early script parses it, too. */

export interface Address {
  readonly view: "find" | "session" | "usage" | "memory" | "store";
  /** Id of a session. */
  readonly id: string;
  readonly params: ReadonlyMap<string, readonly string[]>;
}

const VIEWS = ["session", "usage", "memory", "store"] as const;

export function parse(hash: string): Address {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [name = "", id = ""] = path.split("/").map(decode);
  const params = new Map<string, string[]>();
  for (const [key, value] of new URLSearchParams(query)) {
    params.set(key, [...(params.get(key) ?? []), value]);
  }
  const view = VIEWS.find((one) => one === name) ?? "find";
  return { view, id: view === "session" ? id : "", params };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
