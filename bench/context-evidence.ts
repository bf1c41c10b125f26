/**
 * How often the context for a question contains the message that answers it: every conversation is
 * one long session, compacted down to its last turns, and every question is the next user message.
 */

import { open } from "./library.ts";
import type { Figures } from "./measure.ts";
import { readLabelledData } from "./recall-data.ts";

export interface EvidenceTask {
  readonly data: string;
  readonly tokenBudget: number;
  /** Messages to recall; 0: none. */
  readonly k: number;
}

export async function evidence({ data, tokenBudget, k }: EvidenceTask): Promise<Figures> {
  const { sessions, questions } = readLabelledData(data);
  await using memory = await open(":memory:");
  let asked = 0;
  let some = 0;
  let all = 0;
  let tokens = 0;
  for (const conversation of new Set(sessions.map((session) => session.conversation))) {
    const session = await memory.createSession({ agent: "bench", createdBy: "person" });
    const ids = new Map<string, string>();
    for (const { messages } of sessions.filter((each) => each.conversation === conversation)) {
      const entries = await session.append(
        messages.map(({ role, actor = role, text }) => ({ role, actor, content: text })),
      );
      messages.forEach(({ id }, i) => {
        ids.set(entries[i]?.id ?? "", id);
      });
    }
    await session.compact({ keep: { messages: 20 } });
    for (const question of questions) {
      if (question.conversation !== conversation || question.messages.length === 0) continue;
      const built = await session.buildContext({
        tokenBudget,
        query: question.question,
        semanticRecall: k === 0 ? false : { k },
      });
      const shown = new Set(
        built.messages.flatMap(({ entryIds }) => entryIds.map((id) => ids.get(id) ?? "")),
      );
      const found = question.messages.filter((id) => shown.has(id)).length;
      asked++;
      some += found > 0 ? 1 : 0;
      all += found === question.messages.length ? 1 : 0;
      tokens += built.tokens;
    }
  }
  return { asked, some: (100 * some) / asked, all: (100 * all) / asked, tokens: tokens / asked };
}
