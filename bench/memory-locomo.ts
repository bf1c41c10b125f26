/** LoCoMo: `data/locomo10.json` of snap-research/LoCoMo, or labelled lines made of it. */

import { type Haystack, readJson } from "./memory-set.ts";
import { type LabelledMessage, type LabelledSession, readLabelledData } from "./recall-data.ts";

const CATEGORIES = ["", "multi-hop", "temporal", "open-domain", "single-hop", "adversarial"];

interface Conversation {
  readonly sample_id?: string;
  readonly qa: readonly {
    readonly question: string;
    readonly evidence?: readonly string[] | string;
    readonly category?: number;
  }[];
  /** `speaker_a`, `session_1`, `session_1_date_time` and so on. */
  readonly conversation: Readonly<Record<string, unknown>>;
}

interface Turn {
  readonly speaker: string;
  readonly dia_id: string;
  readonly text?: string;
  readonly blip_caption?: string;
}

export function readLocomo(path: string): Haystack[] {
  const conversations = readJson(path) as readonly Conversation[];
  return conversations.map((each, i) => haystackOf(each, each.sample_id ?? String(i)));
}

/** `sessions.jsonl` and `questions.jsonl`, whose questions have LoCoMo's categories. */
export function readLabelledLocomo(folder: string): Haystack[] {
  const { sessions, questions } = readLabelledData(folder);
  return [...new Set(questions.map(({ conversation }) => conversation))].map((conversation) => ({
    sessions: sessions.filter((session) => session.conversation === conversation),
    questions: questions
      .filter((question) => question.conversation === conversation)
      .map((question) => ({ ...question, groups: groupsOf(question.category) })),
  }));
}

/** Questions without evidence in the conversation are left out. */
function haystackOf({ conversation: said, qa }: Conversation, conversation: string): Haystack {
  const sessions: LabelledSession[] = Object.keys(said)
    .filter((key) => /^session_\d+$/.test(key))
    .map((key) => ({
      conversation,
      session: `${conversation}/s${key.slice("session_".length)}`,
      startedAt: dateOf(String(said[`${key}_date_time`])),
      messages: (said[key] as readonly Turn[]).map((turn) => messageOf(turn, said["speaker_a"])),
    }));
  const sessionOf = new Map(
    sessions.flatMap(({ session, messages }) => messages.map(({ id }) => [id, session] as const)),
  );
  const questions = qa.flatMap(({ question, evidence, category = 0 }) => {
    const messages = evidenceOf(evidence).filter((id) => sessionOf.has(id));
    if (messages.length === 0) return [];
    const right = [...new Set(messages.map((id) => sessionOf.get(id) as string))];
    const groups = groupsOf(category);
    return [{ conversation, question, category, messages, sessions: right, groups }];
  });
  return { sessions, questions };
}

function groupsOf(category: number): string[] {
  return [CATEGORIES[category] || `category ${category}`];
}

/** With the caption of a shared image. */
function messageOf(
  { speaker, dia_id, text = "", blip_caption }: Turn,
  first: unknown,
): LabelledMessage {
  const shared = blip_caption === undefined ? "" : ` [image: ${blip_caption}]`;
  const role = speaker === first ? "user" : "assistant";
  return { id: dia_id, actor: speaker, role, text: `${text}${shared}` };
}

/** Ids as they are meant: the file also has `D8:6; D9:17`, `D30:05` and `D:11:26`. */
export function evidenceOf(evidence: readonly string[] | string = []): string[] {
  const ids = [evidence]
    .flat()
    .join(" ")
    .matchAll(/D:?(\d+):(\d+)/g);
  return [...new Set([...ids].map(([, session, turn]) => `D${Number(session)}:${Number(turn)}`))];
}

/** Of `1:56 pm on 8 May, 2023`. */
function dateOf(text: string): string {
  const [time = "", day = ""] = text.replace(",", "").split(" on ");
  const at = Date.parse(`${day} ${time} UTC`);
  return new Date(Number.isNaN(at) ? 0 : at).toISOString();
}
