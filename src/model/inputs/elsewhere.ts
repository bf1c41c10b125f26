/** Names that readers of other documents look for, and what to use here instead. */

import { plainName } from "../suggest.ts";

interface Elsewhere {
  readonly names: readonly string[];
  /** A known field of the inputs that it is about. */
  readonly beside: string;
  readonly way: string;
}

const ELSEWHERE: readonly Elsewhere[] = [
  {
    names: ["summary"],
    beside: "retention",
    way: "a session's summary is that of its newest compaction; write one with compact, whose hook before (over REST: summary) takes your own words",
  },
  {
    names: ["preserve_recent_messages"],
    beside: "preset",
    way: 'use preset: { name: "claw", messages }',
  },
  {
    names: ["max_estimated_tokens"],
    beside: "preset",
    way: 'use preset: { name: "claw", tokens }',
  },
  {
    names: ["preserve_recent_messages", "max_estimated_tokens"],
    beside: "triggerTurns",
    way: 'they are messages and tokens of compact({ preset: { name: "claw" } }) and of clawPolicy()',
  },
  { names: ["preserve_recent_messages"], beside: "messages", way: "use messages" },
  { names: ["max_estimated_tokens"], beside: "tokens", way: "use tokens" },
  {
    names: ["compaction.preserve_recent_messages", "compaction.max_estimated_tokens"],
    beside: "compaction.policy",
    way: 'set compaction.policy to "claw"; its numbers are options of clawPolicy({ messages, tokens })',
  },
];

/** Undefined if the name is not known from elsewhere. */
export function wayFromElsewhere(name: string, known: readonly string[]): string | undefined {
  const given = plainName(name);
  return ELSEWHERE.find(
    ({ names, beside }) => known.includes(beside) && names.map(plainName).includes(given),
  )?.way;
}
