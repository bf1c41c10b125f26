/** BEAM (mohammadtavakoli78/BEAM), chats of 100,000 and 500,000 tokens: a clone, or made files. */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type BeamHalf, type Haystack, readJson } from "./memory-set.ts";

export const BEAM_SIZES = ["100K", "500K"] as const;
export type BeamSize = (typeof BEAM_SIZES)[number];

/** As `beam-100k.json` and `beam-500k.json` have it. */
export interface BeamChat {
  readonly chat: number;
  readonly messages: readonly {
    readonly id: number;
    readonly role: "user" | "assistant";
    readonly text: string;
    readonly at: number;
  }[];
  readonly questions: readonly {
    readonly kind: string;
    readonly question: string;
    readonly gold: readonly number[];
    readonly old?: readonly number[];
    readonly new?: readonly number[];
  }[];
}

/** A message of `chat.json`. */
interface Said {
  readonly id: number;
  readonly role: "user" | "assistant";
  readonly content: string;
  readonly time_anchor?: string | null;
}

/** By kind, a question of `probing_questions.json`. */
type Probes = Readonly<
  Record<string, readonly { readonly question: string; readonly source_chat_ids?: unknown }[]>
>;

const FIRST_AT = Date.UTC(2024, 0, 1);
const MINUTE_MS = 60_000;

export function readBeamFile(path: string): BeamChat[] {
  return readJson(path) as BeamChat[];
}

/** The chats of one size in a clone that have both their messages and their questions. */
export function* readBeamClone(clone: string, size: BeamSize): Generator<BeamChat> {
  const folder = join(clone, "chats", size);
  for (const chat of readdirSync(folder).map(Number).sort(byValue)) {
    const said = join(folder, String(chat), "chat.json");
    const asked = join(folder, String(chat), "probing_questions", "probing_questions.json");
    if (!existsSync(said) || !existsSync(asked)) continue;
    yield { chat, messages: readMessages(said), questions: readQuestions(asked) };
  }
}

/** Each chat is one session; questions without evidence, as all of abstention, are left out. */
export function* beamHaystacks(
  chats: Iterable<BeamChat>,
  size: BeamSize,
  half?: BeamHalf,
): Generator<Haystack> {
  for (const { chat, messages, questions } of chats) {
    if (half !== undefined && halfOf(chat, size) !== half) continue;
    const conversation = `${size}/${chat}`;
    const said = messages.filter(({ role }) => role === "assistant");
    const byAssistant = new Set(said.map(({ id }) => id));
    yield {
      sessions: [
        {
          conversation,
          session: conversation,
          startedAt: new Date(messages[0]?.at ?? FIRST_AT).toISOString(),
          messages: messages.map((message) => ({ ...message, id: String(message.id) })),
        },
      ],
      questions: questions
        .filter(({ gold }) => gold.length > 0)
        .map(({ kind, question, gold, old = [], new: updated = [] }) => ({
          conversation,
          question,
          category: 0,
          messages: gold.map(String),
          ofAssistant: gold.filter((id) => byAssistant.has(id)).map(String),
          sessions: [conversation],
          groups: [size, kind],
          ...(old.length === 0 || updated.length === 0
            ? {}
            : { outdated: old.map(String), updated: updated.map(String) }),
        })),
    };
  }
}

function halfOf(chat: number, size: BeamSize): BeamHalf {
  return (size === "100K" ? chat <= 10 : chat % 2 === 1) ? "dev" : "held";
}

/** A message without a date is a minute after the one before it. */
function readMessages(path: string): BeamChat["messages"] {
  const batches = readJson(path) as readonly {
    readonly turns: readonly (readonly Said[])[];
  }[];
  let at = FIRST_AT;
  return batches.flatMap(({ turns }) =>
    turns.flat().map(({ id, role, content, time_anchor }) => {
      at = Math.max(at + MINUTE_MS, dateOf(time_anchor));
      // The plan's marks at the end of what the user says.
      const text = role === "user" ? content.replace(/\s*->->.*$/s, "") : content;
      return { id, role, text, at };
    }),
  );
}

function readQuestions(path: string): BeamChat["questions"] {
  const probes = readJson(path) as Probes;
  return Object.entries(probes).flatMap(([kind, questions]) =>
    questions.map(({ question, source_chat_ids: ids }) => ({
      kind,
      question,
      gold: [...new Set(numbersIn(ids))].sort(byValue),
      old: numbersIn(fieldOf(ids, "original_info")),
      new: numbersIn(fieldOf(ids, "updated_info")),
    })),
  );
}

function numbersIn(value: unknown): number[] {
  if (typeof value === "number") return [value];
  return typeof value === "object" && value !== null
    ? Object.values(value).flatMap((each) => numbersIn(each))
    : [];
}

function fieldOf(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>> | undefined)?.[name];
}

/** Of `March-15-2024`; 0 if it is no date. */
function dateOf(anchor: string | null | undefined): number {
  const at = Date.parse(`${(anchor ?? "").replaceAll("-", " ")} UTC`);
  return Number.isNaN(at) ? 0 : at;
}

function byValue(a: number, b: number): number {
  return a - b;
}
