/**
 * Machine-made sessions: a program warmed up a cache, or requested a summary or title. They are
 * kept and marked, so that lists and searches can leave them out.
 *
 * Recognised by the program's requests, as seen in transcripts of Claude Code, its sub-agents and
 * its companions (anthropics/claude-code issues 41165 and 35800, winfunc/opcode pull request 421).
 */

/** The metadata key that is true for such a session. */
export const MACHINE_MADE_KEY = "machineMade";

const REQUESTS: readonly RegExp[] = [
  /^warmup$/i,
  /^Context: This summary will be shown in a list to help users and Claude choose/,
  /^Analyze this conversation and determine: Does the assistant have more autonomous work/,
  /^Please write (?:a|the) \d+-\d+ word title (?:for )?the following conversation/i,
  /^Summarize this coding conversation in under \d+ characters/,
  /^Your task is to create a detailed summary of (?:the|this) conversation so far/,
  /^Analy[sz]e this development session transcript and generate a structured summary/,
];

/** Whether the request is a program's. */
export function isMachineRequest(text: string): boolean {
  const begin = text.slice(0, 400).trim();
  return REQUESTS.some((request) => request.test(begin));
}
