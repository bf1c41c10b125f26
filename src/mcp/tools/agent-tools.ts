/**
 * The tools as coding agents see them: seven, with the arguments that a model uses. Every request
 * of an agent carries this list, so each word counts.
 */

import { QUERY_HELP } from "../../api/text/session-heading.ts";
import { AGENT_NAMES } from "../agent-names.ts";
import { TOOLS } from "./index.ts";
import type { Offer, Tool } from "./tool.ts";

const NAME = AGENT_NAMES;
const TIMES = {
  since: "From then on: 2026-01-31, yesterday, 7d.",
  until: "Up to then; a day counts whole.",
} as const;
const PROJECT = "Only this project: its folder, or the end of its path.";

export const AGENT_TOOLS: readonly Offer[] = [
  {
    name: NAME.search_sessions,
    title: "Search past conversations",
    description: `Search all earlier conversations and the notes kept from them. Use when the user refers to something from before, and before you ask or work out what may be said, decided or solved already. Gives excerpts, the best first, with ids such as k3f9#12: read on with ${NAME.list_messages}. Not for an error, a file or a command (${NAME.trace}), nor for a period (${NAME.recap}).`,
    takes: {
      query: QUERY_HELP,
      project: PROJECT,
      agent: "Only sessions of this agent, such as codex.",
      ...TIMES,
      limit: "Hits; 5 if left out, 20 at most.",
      cursor: null,
    },
    isFirst: true,
  },
  {
    name: NAME.list_messages,
    title: "Read a past conversation",
    description: `Read a past conversation in order: what was said in full, tool calls and results in a line each. Use when an excerpt is not enough: around "k3f9#12" reads on from a hit. Not to find something (${NAME.search_sessions}), nor for an overview (${NAME.recap} with session_id).`,
    takes: {
      around: "A message to put in the middle, such as k3f9#12.",
      session_id: "A session's id, such as k3f9, to begin at its start or at offset.",
      offset: null,
      limit: "Messages; 20 if left out.",
      cursor: "The cursor that the previous page ended with.",
      message_bytes: null,
    },
  },
  {
    name: NAME.trace,
    title: "Trace an error, a file, a line or a command",
    description: `Find the past sessions that met an error and what fixed it, that changed or read a file, that wrote a line or a commit and why, or that ran a command. Use when you meet an error, and before you change code that may be so for a reason. Takes one of error, file, line, commit and command. Not for words that were said (${NAME.search_sessions}).`,
    takes: {
      error: null,
      file: null,
      line: null,
      commit: null,
      command: null,
      project: PROJECT,
      ...TIMES,
      limit: null,
    },
  },
  {
    name: NAME.recap,
    title: "Recap past work",
    description: `What was done in a period, a project or one session: requests, outcomes, changed files, commands. Use for "what did I do yesterday?" and "where were we?". Not to find what was said (${NAME.search_sessions}).`,
    takes: {
      ...TIMES,
      project: PROJECT,
      session_id: "Only this session, such as k3f9.",
      limit: null,
    },
  },
  {
    name: NAME.list_sessions,
    title: "List past conversations",
    description: `List past conversations, the newest first: titles and ids such as k3f9. Use to pick one by date, project or title. Not to learn what was done (${NAME.recap}), nor to find what was said (${NAME.search_sessions}).`,
    takes: { ...TIMES, project: PROJECT, title: null, agent: null, limit: null, cursor: null },
  },
  {
    name: NAME.remember,
    title: "Remember for later",
    description: `Keep a note for later conversations, in place of one of the same name. Use for decisions, preferences and habits that outlast this conversation, and when the user says: remember this. At most 8 KiB. Not for what was said: that is kept, unless the user wants it forgotten or marked.`,
    takes: {
      name: null,
      content: null,
      mark: null,
      replaced_by: null,
      accept_rule: null,
      forget_conversation: null,
    },
  },
  {
    name: NAME.search_memory,
    title: "Search remembered notes",
    description: `Search the notes of ${NAME.remember} and of agents' own memory files; gives them whole. Use when a rule, a preference or a how-to may be noted. Not for what was said in conversations (${NAME.search_sessions}).`,
    takes: { query: QUERY_HELP, limit: null },
  },
];

interface Called {
  readonly tool: Tool;
  /** Arguments that the name stands for. */
  readonly preset: Readonly<Record<string, unknown>>;
}

/** The tool of either name. */
export function findTool(name: string): Called | undefined {
  const [own = name] = Object.entries(AGENT_NAMES).find(([, shown]) => shown === name) ?? [];
  const tool = TOOLS.find((each) => each.name === own);
  const preset = name === NAME.search_sessions ? { with_notes: true } : {};
  return tool && { tool, preset };
}
