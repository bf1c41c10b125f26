/** Parses server-sent events from a response. */

export interface ServerEvent {
  readonly type: string;
  readonly id: string;
  readonly data: string;
}

/** A server sends something at least every 15 seconds; after this long it counts as gone. */
const SILENCE_MS = 45_000;

/** Ends with the response. Throws a TypeError if the connection is lost or silent. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  silenceMs: number = SILENCE_MS,
): AsyncGenerator<ServerEvent> {
  let type = "message";
  let id = "";
  let data: string[] = [];
  for await (const line of readLines(body, silenceMs)) {
    if (line === "") {
      if (data.length > 0) yield { type, id, data: data.join("\n") };
      type = "message";
      data = [];
      continue;
    }
    const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (name === "event") type = value;
    else if (name === "id") id = value;
    else if (name === "data") data.push(value);
  }
}

async function* readLines(
  body: ReadableStream<Uint8Array>,
  silenceMs: number,
): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await withDeadline(reader.read(), silenceMs);
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) yield line.replace(/\r$/, "");
    }
  } finally {
    // Close the connection when the reader stops; a broken one is closed already.
    await reader.cancel().catch(() => undefined);
  }
}

async function withDeadline<Result>(reading: Promise<Result>, ms: number): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new TypeError("the connection is silent")), ms);
  try {
    return await Promise.race([reading, promise]);
  } finally {
    clearTimeout(timer);
  }
}
