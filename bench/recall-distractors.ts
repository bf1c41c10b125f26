/**
 * Distractor sessions, unrelated to any question: a large store around a small labelled one.
 *
 * They have the labelled sessions' word distribution, so that every question matches them; a third
 * of a session's words are its own few, so that sessions differ as real ones do.
 */

import type { LabelledSession } from "./recall-data.ts";
import { randomNumbers } from "./synthetic.ts";

const SESSION_MESSAGES = 40;
const MESSAGE_WORDS = 30;
const OWN_WORDS = 200;

export function* makeDistractors(
  sessions: readonly LabelledSession[],
  messages: number,
): Generator<LabelledSession> {
  const random = randomNumbers(1);
  const texts = sessions.flatMap((session) => session.messages.map(({ text }) => text));
  const words = texts.flatMap((text) => text.match(/[\p{L}\p{N}_]+/gu) ?? []);
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)] as string;
  const startedAt = sessions[0]?.startedAt ?? "";
  for (let made = 0; made < messages; made += SESSION_MESSAGES) {
    const own = Array.from({ length: OWN_WORDS }, () => pick(words));
    const write = () =>
      Array.from({ length: MESSAGE_WORDS }, () => pick(random() < 1 / 3 ? own : words)).join(" ");
    yield {
      conversation: "distractors",
      session: `distractor-${made}`,
      startedAt,
      messages: Array.from({ length: Math.min(SESSION_MESSAGES, messages - made) }, (_, i) => ({
        id: String(i),
        actor: i % 2 === 0 ? "user" : "assistant",
        role: i % 2 === 0 ? "user" : "assistant",
        text: write(),
      })),
    };
  }
}
