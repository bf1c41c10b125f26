/** A session in pi's format: a header, then entries of a tree, a whole answer in each. */

import type { Action, Story } from "./story.ts";

export class PiWriter {
  readonly #story: Story;
  #parent: string | null = null;
  #count = 0;

  constructor(story: Story) {
    this.#story = story;
  }

  *lines(): Generator<object> {
    const { words, id, cwd } = this.#story;
    if (this.#count === 0) {
      yield { type: "session", version: 3, id, timestamp: this.#story.now(), cwd };
    }
    const { request, steps, answer } = this.#story.exchange();
    yield this.#entry({ role: "user", content: [{ type: "text", text: request }] });
    for (const { thought, remark, action } of steps) {
      const call = `toolu_01${words.sealed(17).slice(0, 22).replaceAll(/[+/]/g, "x")}`;
      const { name, input, output, details } = toCall(action);
      yield this.#entry({
        ...this.#answer("toolUse"),
        content: [
          {
            type: "thinking",
            thinking: thought,
            thinkingSignature: words.sealed(200 + words.below(900)),
          },
          { type: "text", text: remark },
          { type: "toolCall", id: call, name, arguments: input },
        ],
      });
      yield this.#entry({
        role: "toolResult",
        toolCallId: call,
        toolName: name,
        isError: false,
        details,
        content: [{ type: "text", text: output }],
      });
    }
    yield this.#entry({ ...this.#answer("stop"), content: [{ type: "text", text: answer }] });
  }

  #entry(message: object): object {
    const parentId = this.#parent;
    const id = this.#story.words.hex(8) + (this.#count++).toString(16);
    this.#parent = id;
    const timestamp = this.#story.now();
    return { type: "message", id, parentId, timestamp, message: { ...message, timestamp } };
  }

  #answer(stopReason: string): object {
    const { words } = this.#story;
    const [input, output, cacheRead] = [words.below(900), words.below(900), words.below(90_000)];
    const cost = { input: 0.001, output: 0.01, cacheRead: 0.002, cacheWrite: 0.001, total: 0.014 };
    const totalTokens = input + output + cacheRead + 500;
    return {
      role: "assistant",
      api: "example",
      provider: "example",
      model: "example-1",
      stopReason,
      usage: { input, output, cacheRead, cacheWrite: 500, totalTokens, cost },
    };
  }
}

interface Call {
  readonly name: string;
  readonly input: object;
  readonly output: string;
  readonly details?: object;
}

function toCall(action: Action): Call {
  switch (action.tool) {
    case "read":
      return { name: "read", input: { path: action.path }, output: action.lines.join("\n") };
    case "bash":
      return { name: "bash", input: { command: action.command }, output: action.output };
    case "search":
      return { name: "bash", input: { command: `rg ${action.pattern}` }, output: action.output };
    case "write":
      return {
        name: "write",
        input: { path: action.path, content: action.lines.join("\n") },
        output: `Successfully wrote ${action.lines.length} lines to ${action.path}`,
      };
    case "edit": {
      const { path, old, new: fresh } = action;
      const diff = [...old.map((line) => `-${line}`), ...fresh.map((line) => `+${line}`)];
      return {
        name: "edit",
        input: { path, oldText: old.join("\n"), newText: fresh.join("\n") },
        output: `Successfully replaced text in ${path}.`,
        details: { diff: diff.join("\n") },
      };
    }
  }
}
