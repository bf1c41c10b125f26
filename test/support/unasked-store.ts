/** A store of small coding sessions, and what memory says unasked in it. */

import { onTestFinished } from "vitest";
import type { Engine } from "../../src/engine/engine.ts";
import type { MessageInput } from "../../src/engine/message-input.ts";
import type { SessionHandle } from "../../src/engine/session-handle.ts";
import type { CreateSessionInput } from "../../src/engine/session-input.ts";
import { open } from "../../src/open.ts";
import { askUnasked } from "../../src/unasked/ask.ts";
import type { Moment, Unasked } from "../../src/unasked/moment.ts";

export const FOLDER: string = "/home/ana/shop";
export const START: number = Date.UTC(2026, 0, 1);
const HOUR = 60 * 60_000;
/** When moments are asked unless they say otherwise. */
export const NOW: number = START + 100 * HOUR;

/** A message: said by the user or the agent, or a call with its result. */
export type Step =
  | { readonly user: string }
  | { readonly agent: string }
  | { readonly run: string; readonly gave?: string; readonly failed?: boolean }
  | { readonly edit: string; readonly text?: string };

type Ask = Moment extends infer Each
  ? Each extends Moment
    ? Omit<Each, "cwd" | "at">
    : never
  : never;

export class UnaskedStore {
  readonly engine: Engine;
  #sessions = 0;

  private constructor(engine: Engine) {
    this.engine = engine;
  }

  static async open(): Promise<UnaskedStore> {
    const engine = await open(":memory:", { inThread: true, searchDeadlineMs: 60_000 } as never);
    onTestFinished(() => engine.close());
    return new UnaskedStore(engine);
  }

  /** Each session begins an hour after the one before; its messages are a second apart. */
  async add(
    steps: readonly Step[],
    fields: Partial<CreateSessionInput> = {},
  ): Promise<SessionHandle> {
    const begin = START + this.#sessions++ * HOUR;
    const session = await this.engine.createSession({
      agent: "claude-code",
      createdBy: "ana",
      startedAt: begin,
      origin: { projectPath: FOLDER, gitBranch: "main" },
      ...fields,
    });
    const messages = steps.flatMap((step, i) => messagesOf(step, `t${this.#sessions}-${i}`));
    await session.append(messages.map((each, i) => ({ createdAt: begin + i * 1_000, ...each })));
    return session;
  }

  /** Sessions about something else: a prompt's best session is compared with them. */
  async addOthers(count = 18): Promise<void> {
    for (let i = 0; i < count; i++) {
      await this.add([
        { user: `Fix the checkout tests of page ${i}.` },
        { agent: `Page ${i} passes now.` },
      ]);
    }
  }

  ask(moment: Ask & Partial<Pick<Moment, "at" | "cwd">>): Promise<Unasked> {
    return askUnasked(this.engine, { cwd: FOLDER, at: NOW, ...moment } as Moment, {
      deadlineMs: 60_000,
    });
  }
}

function messagesOf(step: Step, id: string): MessageInput[] {
  if ("user" in step) return [{ role: "user", actor: "ana", content: step.user }];
  if ("agent" in step) return [{ role: "assistant", actor: "claude", content: step.agent }];
  const isRun = "run" in step;
  const input = isRun
    ? { command: step.run }
    : { file_path: step.edit, old_string: "", new_string: step.text ?? "" };
  const output = isRun ? (step.gave ?? "") : "done";
  const call = { type: "tool_use", id, name: isRun ? "Bash" : "Edit", input };
  const isError = isRun && step.failed === true;
  return [
    { role: "assistant", actor: "claude", content: [call] },
    {
      role: "user",
      actor: "claude",
      content: [{ type: "tool_result", toolUseId: id, output, isError }],
    },
  ];
}
