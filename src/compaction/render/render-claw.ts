/**
 * A summary in claw-code's format, so that claw-code can continue the session.
 *
 * Two deliberate differences: a second summary is rendered from merged structure, so nothing nests;
 * and a timeline of more than 200 lines begins with counts.
 */

import type { CitedText, SummaryStructure } from "../summary.ts";

export function renderClaw(structure: SummaryStructure): string {
  const { scope, tools, requests, pending, keyFiles, currentWork, folded, timeline } = structure;
  const lines = [
    "<summary>",
    "Conversation summary:",
    `- Scope: ${scope.messages} earlier messages compacted (${counts(scope)}).`,
  ];
  if (tools.length > 0) lines.push(`- Tools mentioned: ${tools.join(", ")}.`);
  if (requests.length > 0) lines.push("- Recent user requests:", ...bullets(requests));
  if (pending.length > 0) lines.push("- Pending work:", ...bullets(pending));
  if (keyFiles.length > 0) lines.push(`- Key files referenced: ${keyFiles.join(", ")}.`);
  if (currentWork !== null) lines.push(`- Current work: ${withoutTags(currentWork.text)}`);
  lines.push("- Key timeline:");
  for (const fold of folded) {
    const { messages, from, through } = fold;
    lines.push(`  - earlier: ${messages} messages (${counts(fold)}) from ${from} to ${through}`);
  }
  for (const { role, text } of timeline) lines.push(`  - ${role}: ${withoutTags(text)}`);
  lines.push("</summary>");
  return lines.join("\n");
}

interface Counts {
  readonly user: number;
  readonly assistant: number;
  readonly tool: number;
}

function counts({ user, assistant, tool }: Counts): string {
  return `user=${user}, assistant=${assistant}, tool=${tool}`;
}

function bullets(cited: readonly CitedText[]): string[] {
  return cited.map(({ text }) => `  - ${withoutBullet(withoutTags(text))}`);
}

/** Escapes the summary's tags in quoted text. */
export function withoutTags(text: string): string {
  return text.replace(/<(\/?(?:summary|analysis))>/gi, "[$1]");
}

/** A message that begins with a list would nest inside ours. */
export function withoutBullet(text: string): string {
  return text.replace(/^(?:\s*[-*+•]\s+)+/, "");
}
