/** The tools that recap work and find related sessions. */

import { z } from "zod";
import { maskText } from "../../api/mask.ts";
import { toWire, type WireOf } from "../../api/shape.ts";
import { shapeSchema } from "../../api/shape-schema.ts";
import { ABOUT_RECALLED } from "../../api/text/session-heading.ts";
import { quoteConversation } from "../../context/quote.ts";
import { SESSION_RECAP } from "../../model/answers/context.ts";
import { defined } from "../../model/defined.ts";
import { BackscrollError } from "../../model/errors.ts";
import {
  DEFAULT_MCP_HIT_TOKENS,
  DEFAULT_MCP_LIST_TOKENS,
  MAX_HITS,
  MAX_QUERY_BYTES,
} from "../../model/limits.ts";
import { foundSession } from "../../recap/found-session.ts";
import {
  DEFAULT_RECAP_SESSIONS,
  type Recap,
  type RecapLine,
  recapSessions,
  type SessionRecap,
} from "../../recap/recap.ts";
import { DEFAULT_RELATED, type Related, relatedSessions } from "../../recap/related.ts";
import { showRecap } from "../../recap/show-work.ts";
import type { SearchHit } from "../../search/request.ts";
import { fitListing, fitSessions, readOn } from "../fit-listing.ts";
import { type McpHost, nowOf } from "../host.ts";
import {
  findNewestSession,
  findOthers,
  findOwnSessions,
  MAYBE_OWN,
  OWN_LEFT_OUT,
} from "../own-session.ts";
import { HIT_VIEW, showHit, toHitView } from "../views/hit.ts";
import {
  ABOUT,
  filterFields,
  hits,
  SESSION_ID,
  SUB_AGENTS,
  sessionFilter,
  TIMES,
  TRUNCATED,
} from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

const { session: _, ...WORK } = SESSION_RECAP;
/** A recap as data. */
const RECAP_SHAPE = { sessionId: "text", shortId: "text", title: "text", ...WORK } as const;

function toRecapView(recap: SessionRecap): WireOf<typeof RECAP_SHAPE> {
  const { session, outcome, requests, filesChanged, commands, marks } = recap;
  return toWire(RECAP_SHAPE, {
    ...recap,
    sessionId: session.id,
    shortId: session.shortId,
    title: maskText(session.title),
    requests: requests.map(maskLine),
    outcome: outcome === null ? null : maskLine(outcome),
    filesChanged: filesChanged.map((file) => ({ ...file, path: maskText(file.path) })),
    commands: commands.map(maskLine),
    marks: marks.map((mark) => ({ ...mark, reason: maskText(mark.reason) })),
  });
}

function maskLine<Line extends RecapLine>(line: Line): Line {
  return { ...line, text: maskText(line.text) };
}

const { agent, ...where } = filterFields("recap");

const RECAP_INPUT = z.object({
  ...TIMES,
  ...where,
  agent,
  session_id: SESSION_ID.describe("Only this session.").optional(),
  limit: hits(
    DEFAULT_RECAP_SESSIONS,
    `Sessions, the newest first; ${DEFAULT_RECAP_SESSIONS} if left out.`,
  ),
  sub_agents: SUB_AGENTS,
});

export const recap: Tool = defineTool({
  name: "recap",
  title: "Recap",
  description:
    'The work of a period, a project or a session: requests, outcomes, changed files and run commands. Use it for "what did I do yesterday?" or "where were we in this project?". Not to find something that was said (search_sessions).',
  scope: "read",
  input: RECAP_INPUT,
  example: { since: "yesterday", until: "yesterday", project: "shop" },
  output: z.object({
    about: ABOUT,
    sessions: z.array(shapeSchema(RECAP_SHAPE)),
    more: z.boolean().describe("There are more sessions in the period."),
    sub_agents: z.number().int().describe("Sessions of sub-agents that were left out."),
    truncated: TRUNCATED,
  }),
  maxTokens: DEFAULT_MCP_LIST_TOKENS,
  counts: "limit",
  cuts: [512, 160],
  run: async (host, input) => {
    const { sessions, more, subAgents } = await readRecap(host, input);
    return {
      about: ABOUT_RECALLED,
      sessions: sessions.map(toRecapView),
      more,
      sub_agents: subAgents,
      truncated: null,
    };
  },
  show: async (host, input, maxBytes) => {
    const others = await findOthers(host);
    const { limit } = input;
    const wanted = Math.min(MAX_HITS, limit + others.count);
    const found = await readRecap(host, { ...input, limit: wanted });
    const { subAgents } = found;
    // A session that was asked for is shown, whoever speaks in it.
    const all = found.sessions.filter(
      ({ session }) => input.session_id !== undefined || others.isOther(session),
    );
    const sessions = all.slice(0, limit);
    const more = found.more || all.length > limit;
    const own = all.length < found.sessions.length ? [OWN_LEFT_OUT] : [];
    if (sessions.length === 0) {
      const nothing = "No stored work in this period. Widen since and until, or leave out project.";
      return [nothing, ...own, ...leftOut(subAgents)].join(" ");
    }
    const now = nowOf(host);
    const notes = [
      ...(more ? ["There are more: raise limit, or narrow since and until."] : []),
      ...own,
      ...leftOut(subAgents),
    ];
    return fitSessions(
      host,
      sessions.map((each) => ({
        text: showRecap(each, now, others.isMaybeOwn(each.session) ? MAYBE_OWN : ""),
        shortId: each.session.shortId,
        index: each.outcome?.index ?? each.requests.at(-1)?.index ?? null,
      })),
      notes,
      maxBytes,
    );
  },
});

function leftOut(subAgents: number): string[] {
  if (subAgents === 0) return [];
  const sessions =
    subAgents === 1 ? "1 session of a sub-agent is" : `${subAgents} of sub-agents are`;
  return [`${sessions} left out; sub_agents: true tells them, too.`];
}

function readRecap(host: McpHost, input: z.infer<typeof RECAP_INPUT>): Promise<Recap> {
  const { limit, session_id: session } = input;
  return recapSessions(host.tenant, {
    ...sessionFilter("recap", input, nowOf(host)),
    limit,
    subAgents: input.sub_agents === true,
    ...defined({ session }),
  });
}

const RELATED_INPUT = z.object({
  session_id: SESSION_ID.describe("A session, in place of question.").optional(),
  question: z.string().min(1).max(MAX_QUERY_BYTES).describe("A question, in any words.").optional(),
  limit: hits(DEFAULT_RELATED, `Of each kind; ${DEFAULT_RELATED} if left out.`),
});

export const related: Tool = defineTool({
  name: "related",
  title: "Related sessions",
  description:
    "Sessions like a given one, or where the same question was asked before. Use it before you solve a problem that may be solved already. Not for words that were said (search_sessions).",
  scope: "read",
  input: RELATED_INPUT,
  example: { question: "why does the cron job run twice?" },
  output: z.object({
    about: ABOUT,
    question: z.string().nullable(),
    sessions: z.array(HIT_VIEW),
    asked: z.array(HIT_VIEW),
    notes: z.array(z.string()),
    truncated: TRUNCATED,
  }),
  maxTokens: DEFAULT_MCP_HIT_TOKENS,
  counts: "limit",
  cuts: [512, 160],
  run: async (host, input) => {
    const { question, sessions, asked, notes, newest } = await readRelated(host, input);
    return {
      about: ABOUT_RECALLED,
      question: question === null ? null : maskText(question),
      sessions: sessions.map((hit) => toHitView(hit, newest)),
      asked: asked.map((hit) => toHitView(hit, newest)),
      notes: [...notes],
      truncated: null,
    };
  },
  show: async (host, input, maxBytes) => {
    const found = await readRelated(host, input);
    const items: string[] = [];
    let on = "";
    for (const { kind, hit } of inOrder(found)) {
      const session = await foundSession(host.tenant, hit.sessionId);
      if (session === undefined) continue;
      const isNewest = hit.sessionId === found.newest;
      const style = { before: 0, after: 0, now: nowOf(host), isNewest };
      items.push(`${kind}: ${showHit(hit, session, style)}`);
      on ||= readOn(host, hit.shortId, hit.index);
    }
    if (items.length === 0) return ["Nothing like it is stored.", ...found.notes].join(" ");
    return fitListing(
      {
        items,
        toText: (shown, _from, to) => {
          const left = items.length - to;
          const more = left > 0 ? [`${left} more do not fit into max_tokens.`] : [];
          const quoted = quoteConversation(ABOUT_RECALLED, shown.join("\n"));
          return `${quoted}\n${[...more, on, ...found.notes].join(" ")}`;
        },
      },
      maxBytes,
    );
  },
});

interface Kind {
  readonly kind: "asked before" | "like it";
  readonly hit: SearchHit;
}

/** Each session once, both kinds in turn, the newest session last: it may be the caller's own. */
function inOrder({ sessions, asked, newest }: Found): readonly Kind[] {
  const ordered: Kind[] = [];
  for (let i = 0; i < Math.max(asked.length, sessions.length); i++) {
    const [same, alike] = [asked[i], sessions[i]];
    if (same !== undefined) ordered.push({ kind: "asked before", hit: same });
    if (alike !== undefined) ordered.push({ kind: "like it", hit: alike });
  }
  const seen = new Set<string>();
  const once = ordered.filter(({ hit }) => {
    const isNew = !seen.has(hit.sessionId);
    seen.add(hit.sessionId);
    return isNew;
  });
  const isNewest = ({ hit }: Kind) => hit.sessionId === newest;
  return [...once.filter((each) => !isNewest(each)), ...once.filter(isNewest)];
}

interface Found extends Related {
  /** The session that may be the caller's, if none is named. */
  readonly newest: string | undefined;
}

/** The caller's question is in its own transcript, so that session is left out. */
async function readRelated(host: McpHost, input: z.infer<typeof RELATED_INPUT>): Promise<Found> {
  const { session_id: session, question, limit } = input;
  if ((session === undefined) === (question === undefined)) {
    throw new BackscrollError("invalid_input", "give exactly one of session_id and question", {
      details: { field: "session_id" },
    });
  }
  const { ids: own, isNamed } = await findOwnSessions(host);
  const { sessions, asked, notes, ...found } = await relatedSessions(host.tenant, {
    limit: Math.min(MAX_HITS, limit + own.length),
    ...defined({ session, question }),
  });
  const isOther = ({ sessionId }: SearchHit) => !own.includes(sessionId);
  return {
    ...found,
    newest: isNamed ? undefined : await findNewestSession(host),
    sessions: sessions.filter(isOther).slice(0, limit),
    asked: asked.filter(isOther).slice(0, limit),
    notes: own.length === 0 ? notes : [...notes, OWN_LEFT_OUT],
  };
}
