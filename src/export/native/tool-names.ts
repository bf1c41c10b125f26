/** Ids of calls and names of tools that every provider accepts. */

/** OpenAI refuses call ids and names of more than 64 characters. */
const MAX_LENGTH = 64;

export class ToolNames {
  readonly #ids = new Set<string>();

  /** Unique among the ids that were given before. */
  callId(id: string): string {
    const clean = clear(id, "call");
    let unique = clean;
    for (let n = 2; this.#ids.has(unique); n++) {
      const end = `_${n}`;
      unique = `${clean.slice(0, MAX_LENGTH - end.length)}${end}`;
    }
    this.#ids.add(unique);
    return unique;
  }

  toolName(name: string): string {
    return clear(name, "tool");
  }
}

function clear(text: string, fallback: string): string {
  const clean = text.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, MAX_LENGTH);
  return clean === "" ? fallback : clean;
}
