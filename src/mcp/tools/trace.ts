/**
 * The tool that traces a file, a command or an error; its findings as data are the wire type,
 * shortened and masked.
 */

import { z } from "zod";
import { maskJson, maskText } from "../../api/mask.ts";
import { toWire, type WireOf } from "../../api/shape.ts";
import { shapeSchema } from "../../api/shape-schema.ts";
import { ABOUT_RECALLED } from "../../api/text/session-heading.ts";
import { type Blame, blameWork } from "../../blame/blame.ts";
import { blameTexts } from "../../blame/show-blame.ts";
import { BLAMED } from "../../model/answers/blame.ts";
import { FINDING, RECAP_LINE } from "../../model/answers/context.ts";
import { defined } from "../../model/defined.ts";
import { BackscrollError } from "../../model/errors.ts";
import type { JsonValue } from "../../model/json.ts";
import { DEFAULT_MCP_HIT_TOKENS, MAX_HITS, MAX_QUERY_BYTES } from "../../model/limits.ts";
import { showTraced, traceNotes } from "../../recap/show-work.ts";
import {
  DEFAULT_TRACED_SESSIONS,
  type Trace,
  type TracedSession,
  traceWork,
} from "../../recap/trace.ts";
import { lastIndexOf } from "../../recap/trace-session.ts";
import {
  toWireFinding,
  type WireClearing,
  type WireTracedCall,
} from "../../recap/wire/wire-trace.ts";
import { shownName } from "../agent-names.ts";
import { fitSessions } from "../fit-listing.ts";
import { type McpHost, nowOf } from "../host.ts";
import { findOwnSessions, OWN_LEFT_OUT } from "../own-session.ts";
import { ABOUT, filterFields, hits, sessionFilter, TIMES, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

const CALL = {
  index: { of: "count", wire: "msg_idx" },
  tool: "text",
  input: "text",
  failed: "flag|null",
} as const;
type CallView = WireOf<typeof CALL>;

const CLEARED = {
  edits: [CALL],
  success: { of: CALL, null: true },
  answer: { of: RECAP_LINE, null: true },
} as const;

const TRACED = {
  sessionId: "text",
  shortId: "text",
  title: "text",
  /** Only a branch other than the active one has it. */
  otherBranch: "flag",
  ...FINDING,
  /** The last change, run, or call that met the error. */
  call: { of: CALL, null: true },
  cleared: { of: CLEARED, null: true },
} as const;
type TracedView = WireOf<typeof TRACED>;

const text = (description: string) =>
  z.string().min(1).max(MAX_QUERY_BYTES).describe(description).optional();

const { agent, ...where } = filterFields("trace");

const INPUT = z.object({
  file: text("A path, or the end of one: src/cron.ts."),
  command: text("A command, or part of one: npm test."),
  error: text("The text of an error, or a distinctive part of it."),
  line: text("Who wrote lines, and why: src/cron.ts:12, or 12-20. In your repository."),
  commit: text("Who wrote a commit, or a branch: HEAD, 9fceb02, main..feature."),
  ...TIMES,
  ...where,
  agent,
  limit: hits(
    DEFAULT_TRACED_SESSIONS,
    `Sessions, the newest first; ${DEFAULT_TRACED_SESSIONS} if left out.`,
  ),
});

export const trace: Tool = defineTool({
  name: "trace",
  title: "Trace a file, a line, a commit, a command or an error",
  description:
    "Find the sessions that changed or read a file, wrote a line or a commit, ran a command, or met an error, and the error's fix. Takes one of file, line, commit, command and error. Use it when you meet an error, or before you change code that others may have changed for a reason. Not for words that were said (search_sessions).",
  scope: "read",
  input: INPUT,
  example: { error: "database is locked" },
  output: z.object({
    about: ABOUT,
    sessions: z.array(shapeSchema(TRACED)),
    blamed: z.array(z.unknown()).describe("Of line and commit: as backscroll blame --json."),
    within_words: z.boolean().describe("No session has the text as whole words."),
    more_sessions: z.number().int().describe("Further sessions that have it."),
    unread_sessions: z
      .number()
      .int()
      .describe("Older sessions that may have it and were not read; 0: complete."),
    truncated: TRUNCATED,
  }),
  maxTokens: DEFAULT_MCP_HIT_TOKENS,
  counts: "limit",
  cuts: [512, 160],
  run: async (host, input) => {
    const blame = await readBlame(host, input);
    if (blame !== undefined) {
      return {
        ...NOTHING_TRACED,
        blamed: maskedAnswers(wroteAny(blame, input.limit)),
      };
    }
    const { sessions, withinWords, more, unread } = await read(host, input);
    return {
      about: ABOUT_RECALLED,
      sessions: sessions.map(toTracedView),
      blamed: [],
      within_words: withinWords,
      more_sessions: more,
      unread_sessions: unread,
      truncated: null,
    };
  },
  show: async (host, input, maxBytes) => {
    const blame = await readBlame(host, input);
    if (blame !== undefined) {
      const items = blameTexts(blame);
      if (items.length > 0) return fitSessions(host, items, [], maxBytes);
      return "No stored conversation wrote this.";
    }
    const found = await read(host, input);
    const { sessions } = found;
    const notes = [
      ...traceNotes(found, { ...WORDS, search: shownName(host, "search_sessions") }),
      ...(await ownNotes(host)),
    ];
    if (sessions.length === 0) return notes.join(" ");
    const now = nowOf(host);
    return fitSessions(
      host,
      sessions.map((each) => ({
        text: showTraced(each, now),
        shortId: each.session.shortId,
        index: lastIndexOf(each.finding),
      })),
      notes,
      maxBytes,
    );
  },
});

const NOTHING_TRACED = {
  about: ABOUT_RECALLED,
  sessions: [],
  within_words: false,
  more_sessions: 0,
  unread_sessions: 0,
  truncated: null,
};

/** What may be given with line and commit. */
const BESIDE = new Set(["limit", "max_tokens", "detail"]);

/** Undefined: another subject is asked for. */
async function readBlame(host: McpHost, input: z.infer<typeof INPUT>): Promise<Blame | undefined> {
  const field = input.line === undefined ? "commit" : "line";
  const subject = input[field];
  if (subject === undefined) return undefined;
  const others = Object.entries(input).flatMap(([name, value]) =>
    value === undefined || name === field || BESIDE.has(name) ? [] : name,
  );
  if (others.length > 0) {
    throw refused(field, `goes with limit alone: leave out ${others.join(" and ")}`);
  }
  const { history } = host;
  if (history === undefined) {
    throw refused(
      field,
      "needs a server in a clone: use backscroll mcp there, or backscroll blame",
    );
  }
  try {
    return await blameWork(host.tenant, await history(subject));
  } catch (error) {
    // Of a range, a file or a name that git does not know.
    if (!(error instanceof BackscrollError) || error.code !== "invalid_input") throw error;
    throw refused(field, error.message, error);
  }
}

function maskedAnswers(answers: Blame["answers"]): JsonValue[] {
  const wire = toWire([BLAMED], answers) as unknown as JsonValue;
  return maskJson(wire) as JsonValue[];
}

function refused(field: string, sentence: string, cause?: BackscrollError): BackscrollError {
  const details = { ...cause?.details, field };
  return new BackscrollError("invalid_input", `${field}: ${sentence}`, { details, cause });
}

function wroteAny({ answers }: Blame, limit = DEFAULT_TRACED_SESSIONS): Blame["answers"] {
  return answers.filter(({ sessions }) => sessions.length > 0).slice(0, limit);
}

const WORDS = {
  limit: `limit, at most ${MAX_HITS}, shows more`,
  narrow: "since, project or agent",
};

async function ownNotes(host: McpHost): Promise<readonly string[]> {
  return (await findOwnSessions(host)).ids.length > 0 ? [OWN_LEFT_OUT] : [];
}

async function read(host: McpHost, input: z.infer<typeof INPUT>): Promise<Trace> {
  const { file, command, error, limit } = input;
  const now = nowOf(host);
  const { ids: excludeSession } = await findOwnSessions(host);
  const found = {
    ...sessionFilter("trace", input, now),
    limit,
    excludeSession,
    ...defined({ file, command, error }),
  };
  return traceWork(host.tenant, found);
}

function toTracedView({ session, finding, otherBranch }: TracedSession): TracedView {
  const { line, call, asked, cleared, ...spans } = toWireFinding(finding);
  return {
    session_id: session.id,
    short_id: session.shortId,
    title: maskText(session.title),
    other_branch: otherBranch,
    ...spans,
    line: maskOrNull(line),
    call: toCallView(call),
    asked: maskOrNull(asked),
    cleared: cleared === null ? null : toClearedView(cleared),
  };
}

function toClearedView({ edits, success, answer }: WireClearing): TracedView["cleared"] {
  return {
    edits: edits.flatMap((edit) => toCallView(edit) ?? []),
    success: toCallView(success),
    answer: answer === null ? null : { msg_idx: answer.msg_idx, text: maskText(answer.text) },
  };
}

function toCallView(call: WireTracedCall | null): CallView | null {
  if (call === null) return null;
  const { msg_idx, tool, input, result } = call;
  return { msg_idx, tool, input: maskText(input), failed: result?.failed ?? null };
}

function maskOrNull(text: string | null): string | null {
  return text === null ? null : maskText(text);
}
