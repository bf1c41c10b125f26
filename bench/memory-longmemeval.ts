/** LongMemEval (xiaowu0162/LongMemEval): `longmemeval_s*.json`, a haystack for each question. */

import { type Haystack, readJson } from "./memory-set.ts";

interface Instance {
  readonly question_id: string;
  readonly question_type?: string;
  readonly question: string;
  readonly haystack_dates?: readonly string[];
  readonly haystack_session_ids: readonly string[];
  readonly haystack_sessions: readonly (readonly {
    readonly role: "user" | "assistant";
    readonly content: string;
  }[])[];
  readonly answer_session_ids: readonly string[];
}

/** Questions that nothing answers (`_abs`) are left out, as in the official printout. */
export function* readLongMemEval(path: string): Generator<Haystack> {
  const all = readJson(path) as readonly Instance[];
  for (const instance of all) {
    const { question_id, answer_session_ids } = instance;
    if (!question_id.includes("_abs") && answer_session_ids.length > 0) yield haystackOf(instance);
  }
}

function haystackOf(instance: Instance): Haystack {
  const { question_id: conversation, question_type, question, answer_session_ids } = instance;
  return {
    sessions: instance.haystack_sessions.map((turns, i) => ({
      conversation,
      session: instance.haystack_session_ids[i] ?? String(i),
      startedAt: dateOf(instance.haystack_dates?.[i], i),
      messages: turns.map(({ role, content }, j) => ({ id: `${i}/${j}`, role, text: content })),
    })),
    questions: [
      {
        conversation,
        question,
        category: 0,
        messages: [],
        sessions: answer_session_ids,
        groups: [question_type ?? "no type"],
      },
    ],
  };
}

/** Of `2023/05/20 (Sat) 02:21`; without one, sessions are days apart. */
function dateOf(text: string | undefined, index: number): string {
  const at = Date.parse(`${(text ?? "").replace(/\s*\(\w+\)\s*/, " ")} UTC`);
  return new Date(Number.isNaN(at) ? Date.UTC(2023, 0, 1 + index) : at).toISOString();
}
