/** Labelled conversations: sessions, and questions with known answers. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface LabelledMessage {
  /** Unique within its conversation. */
  readonly id: string;
  /** The author's name, where there is more than the role. */
  readonly actor?: string;
  readonly role: "user" | "assistant";
  readonly text: string;
  /** Milliseconds since 1970; if left out, one after another from the session's start. */
  readonly at?: number;
}

export interface LabelledSession {
  readonly conversation: string;
  readonly session: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly messages: readonly LabelledMessage[];
}

export interface Question {
  readonly conversation: string;
  readonly question: string;
  readonly category: number;
  /** Ids of the messages that answer it; empty where only the session is known. */
  readonly messages: readonly string[];
  readonly sessions: readonly string[];
}

export interface LabelledData {
  readonly sessions: readonly LabelledSession[];
  readonly questions: readonly Question[];
}

/** Reads `sessions.jsonl` and `questions.jsonl` of `folder`. */
export function readLabelledData(folder: string): LabelledData {
  return {
    sessions: readLines<LabelledSession>(join(folder, "sessions.jsonl")),
    questions: readLines<Question>(join(folder, "questions.jsonl")),
  };
}

function readLines<Line>(path: string): Line[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as Line);
}
