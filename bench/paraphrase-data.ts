/**
 * Questions that share no content word with their answers, so only meaning connects them. The
 * answers are among sessions about neighbouring subjects.
 */

import { readFileSync } from "node:fs";
import type { LabelledData, LabelledSession } from "./recall-data.ts";

const SUBJECTS = [
  ["the newsletter", "the marketing list", "the landing page", "the press kit"],
  ["the shipping label", "the warehouse scanner", "the return form", "the delivery slot"],
  ["the compiler plugin", "the lint rule", "the type checker", "the code formatter"],
  ["the chess club", "the choir", "the book circle", "the hiking group"],
  ["the balcony railing", "the kitchen tap", "the garage door", "the attic insulation"],
  ["the language course", "the driving licence", "the tax return", "the pension form"],
  ["the video player", "the audio mixer", "the subtitle track", "the thumbnail service"],
  ["the message broker", "the load balancer", "the log collector", "the object storage"],
  ["the tomato plants", "the compost heap", "the beehive", "the pond filter"],
  ["the quarterly report", "the sales forecast", "the travel budget", "the hiring plan"],
] as const;
const EVENTS = [
  "needs a review before Monday, and nobody has volunteered yet.",
  "was finished ahead of schedule, so we celebrated with cake.",
  "turned out to be more expensive than the first offer said.",
  "is documented in the wiki under operations.",
  "got a new owner after the reorganisation in autumn.",
  "was tested on three devices, and all of them passed.",
  "has to be cleaned twice a year, best in spring.",
  "depends on a vendor who answers mail only on Tuesdays.",
  "was postponed because two colleagues were ill.",
  "works better since we followed the manual step by step.",
  "confused a visitor, who asked for a short explanation.",
  "will be replaced next winter by something simpler.",
] as const;

/** 480 sessions that answer none of the questions. */
function* fillers(): Generator<string> {
  for (const event of EVENTS) {
    for (const group of SUBJECTS) {
      for (const subject of group) yield `${subject[0]?.toUpperCase()}${subject.slice(1)} ${event}`;
    }
  }
}

export function readParaphrases(): readonly (readonly [answer: string, question: string])[] {
  const file = new URL("./data/paraphrases.json", import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")) as [string, string][];
}

/** One session per text: the text, and an answer without content words. */
export function paraphraseData(): LabelledData {
  const paraphrases = readParaphrases();
  const texts = [...paraphrases.map(([answer]) => answer), ...fillers()];
  const sessions = texts.map((text, i): LabelledSession => {
    const session = `p${i}`;
    return {
      conversation: "paraphrases",
      session,
      startedAt: new Date(Date.UTC(2026, 0, 1) + i * 3_600_000).toISOString(),
      messages: [
        { id: `${session}-1`, actor: "user", role: "user", text },
        { id: `${session}-2`, actor: "agent", role: "assistant", text: "Noted." },
      ],
    };
  });
  const questions = paraphrases.map(([, question], i) => ({
    conversation: "paraphrases",
    question,
    category: 0,
    messages: [`p${i}-1`],
    sessions: [`p${i}`],
  }));
  return { sessions, questions };
}
