/** All commands, in the order in which `--help` lists them. */

import type { Command } from "../command.ts";
import type { CommandGroup, Verb } from "../help.ts";
import { context, recall, usage } from "./context/context.ts";
import { compact, summaries, summarize } from "./context/summaries.ts";
import { config } from "./gateway/config.ts";
import { routesDelete, routesList, routesSet, routesShow, sessions } from "./gateway/routes.ts";
import { demo } from "./ingest/demo.ts";
import { forget, incognito } from "./ingest/forget.ts";
import { ingestCommand } from "./ingest/ingest.ts";
import { resume } from "./ingest/resume.ts";
import { start } from "./ingest/start.ts";
import { stats } from "./ingest/stats.ts";
import { watchCommand } from "./ingest/watch.ts";
import { factsAdd, factsDelete, factsExtract, factsList, factsSearch } from "./notes/facts.ts";
import { memoryDelete, memoryGet, memoryList, memoryPut, memorySearch } from "./notes/memories.ts";
import { rulesAccept, rulesAdd, rulesList, rulesReject, rulesRemove } from "./notes/rules.ts";
import { blame, pr } from "./search/blame.ts";
import { pick } from "./search/pick.ts";
import { search } from "./search/search.ts";
import { recap, related, trace } from "./search/work.ts";
import { hook } from "./serve/hook.ts";
import { hub } from "./serve/hub.ts";
import { mcp } from "./serve/mcp.ts";
import { openPage } from "./serve/open.ts";
import { serve } from "./serve/serve.ts";
import { setup } from "./serve/setup.ts";
import { append, branch, edit, label, mark, pin } from "./sessions/entries.ts";
import { exportSessions } from "./sessions/export.ts";
import { list } from "./sessions/list.ts";
import { share } from "./sessions/share.ts";
import { history, show } from "./sessions/show.ts";
import { deleteSession, fork, newSession, title } from "./sessions/write.ts";
import { backup, restore } from "./store/backup.ts";
import { changes } from "./store/changes.ts";
import { completions, version } from "./store/completions.ts";
import { doctor } from "./store/doctor.ts";
import { schema } from "./store/schema.ts";
import { status } from "./store/status.ts";
import { tokenCreate, tokenList, tokenRevoke } from "./store/tokens.ts";
import { trust } from "./store/trust.ts";
import { embed, maintain, sweep, tenantDelete } from "./store/upkeep.ts";
import { unaskedAsk } from "./unasked/ask.ts";
import { unaskedLog, unaskedNo } from "./unasked/log.ts";
import { unaskedPreview } from "./unasked/preview.ts";
import { unasked, unaskedNote, unaskedOff, unaskedOn } from "./unasked/switch.ts";

export const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    title: "Read",
    commands: [
      search,
      pick,
      recap,
      related,
      trace,
      blame,
      pr,
      status,
      list,
      show,
      history,
      changes,
    ],
  },
  {
    title: "Transcripts of other agents",
    commands: [start, ingestCommand, watchCommand, stats, resume, forget, incognito, demo],
  },
  {
    title: "Unasked memory",
    commands: [
      unasked,
      unaskedLog,
      unaskedOn,
      unaskedNote,
      unaskedOff,
      unaskedNo,
      unaskedPreview,
      unaskedAsk,
    ],
  },
  { title: "Serve", commands: [setup, serve, openPage, mcp, hook, hub] },
  {
    title: "Write",
    commands: [newSession, append, title, branch, edit, label, mark, pin, fork, deleteSession],
  },
  {
    title: "Context and compaction",
    commands: [context, recall, compact, summarize, summaries],
  },
  {
    title: "Notes",
    commands: [
      memoryList,
      memorySearch,
      memoryGet,
      memoryPut,
      memoryDelete,
      factsList,
      factsSearch,
      factsAdd,
      factsExtract,
      factsDelete,
      rulesList,
      rulesAccept,
      rulesReject,
      rulesRemove,
      rulesAdd,
    ],
  },
  {
    title: "Conversations of a gateway",
    commands: [routesList, routesShow, routesSet, routesDelete, config],
  },
  { title: "Access", commands: [tokenCreate, tokenList, tokenRevoke] },
  {
    title: "Look after the store",
    commands: [
      doctor,
      trust,
      embed,
      sweep,
      maintain,
      backup,
      restore,
      exportSessions,
      share,
      tenantDelete,
      schema,
      completions(() => COMMANDS),
      version,
    ],
  },
];

/** Commands that another one has become a part of: each runs, and help leaves it out. */
const EARLIER: readonly Command[] = [usage, sessions];

export const COMMANDS: readonly Command[] = [
  ...COMMAND_GROUPS.flatMap((group) => group.commands),
  ...EARLIER,
];

/** The first screen of help. */
export const VERBS: readonly Verb[] = [
  {
    title: "Find",
    commands: [
      [search, "what was said, done or decided, with the answer"],
      [list, "sessions, the newest first, and how each ended"],
      [show, "read a session"],
      [recap, "what was done: today, in a project, in a session"],
    ],
  },
  { title: "Continue", commands: [[resume, "go on with a session, in its agent or another"]] },
  {
    title: "Be told",
    commands: [
      [setup, "connect the agents of this machine: they search by themselves"],
      [unasked, "what memory says by itself, and when"],
    ],
  },
  {
    title: "Share",
    commands: [
      [share, "a link to a session, for some days"],
      [exportSessions, "a session as a page, as text, or for another agent"],
      [openPage, "everything in a browser"],
    ],
  },
  {
    title: "Keep",
    commands: [
      [ingestCommand, "store what the agents of this machine wrote"],
      [stats, "tokens and cost: of all, or of a session"],
      [doctor, "whether the store is sound"],
    ],
  },
];
