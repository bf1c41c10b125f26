/** All commands, in the order in which `--help` lists them. */

import type { Command } from "../command.ts";
import type { CommandGroup } from "../help.ts";
import { tokenCreate } from "./access/token-create.ts";
import { tokenList } from "./access/token-list.ts";
import { tokenRevoke } from "./access/token-revoke.ts";
import { compact } from "./context/compact.ts";
import { context } from "./context/context.ts";
import { recall } from "./context/recall.ts";
import { summaries } from "./context/summaries.ts";
import { summarize } from "./context/summarize.ts";
import { usage } from "./context/usage.ts";
import { append } from "./entries/append.ts";
import { branch } from "./entries/branch.ts";
import { edit } from "./entries/edit.ts";
import { label } from "./entries/label.ts";
import { pin } from "./entries/pin.ts";
import { config } from "./gateway/config.ts";
import { maintain } from "./gateway/maintain.ts";
import { routesDelete } from "./gateway/routes-delete.ts";
import { routesList } from "./gateway/routes-list.ts";
import { routesSet } from "./gateway/routes-set.ts";
import { routesShow } from "./gateway/routes-show.ts";
import { sessions } from "./gateway/sessions.ts";
import { demo } from "./ingest/demo.ts";
import { forget } from "./ingest/forget.ts";
import { incognito } from "./ingest/incognito.ts";
import { ingestCommand } from "./ingest/ingest.ts";
import { resume } from "./ingest/resume.ts";
import { start } from "./ingest/start.ts";
import { stats } from "./ingest/stats.ts";
import { watchCommand } from "./ingest/watch.ts";
import { factsAdd } from "./notes/facts-add.ts";
import { factsDelete } from "./notes/facts-delete.ts";
import { factsExtract } from "./notes/facts-extract.ts";
import { factsList } from "./notes/facts-list.ts";
import { memoryDelete } from "./notes/memory-delete.ts";
import { memoryGet } from "./notes/memory-get.ts";
import { memoryList } from "./notes/memory-list.ts";
import { memoryPut } from "./notes/memory-put.ts";
import { factsSearch } from "./search/facts-search.ts";
import { memorySearch } from "./search/memory-search.ts";
import { recap } from "./search/recap.ts";
import { related } from "./search/related.ts";
import { search } from "./search/search.ts";
import { trace } from "./search/trace.ts";
import { hook } from "./serve/hook.ts";
import { mcp } from "./serve/mcp.ts";
import { openPage } from "./serve/open.ts";
import { serve } from "./serve/serve.ts";
import { setup } from "./serve/setup.ts";
import { deleteSession } from "./sessions/delete.ts";
import { exportSessions } from "./sessions/export.ts";
import { fork } from "./sessions/fork.ts";
import { history } from "./sessions/history.ts";
import { list } from "./sessions/list.ts";
import { newSession } from "./sessions/new.ts";
import { show } from "./sessions/show.ts";
import { title } from "./sessions/title.ts";
import { backup } from "./store/backup.ts";
import { changes } from "./store/changes.ts";
import { completions } from "./store/completions.ts";
import { doctor } from "./store/doctor.ts";
import { embed } from "./store/embed.ts";
import { restore } from "./store/restore.ts";
import { status } from "./store/status.ts";
import { sweep } from "./store/sweep.ts";
import { tenantDelete } from "./store/tenant-delete.ts";
import { trust } from "./store/trust.ts";
import { version } from "./store/version.ts";

export const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    title: "Read",
    commands: [search, recap, related, trace, status, list, show, history, changes],
  },
  {
    title: "Transcripts of other agents",
    commands: [start, ingestCommand, watchCommand, stats, resume, forget, incognito, demo],
  },
  { title: "Serve", commands: [setup, serve, openPage, mcp, hook] },
  {
    title: "Write",
    commands: [newSession, append, title, branch, edit, label, pin, fork, deleteSession],
  },
  {
    title: "Context and compaction",
    commands: [context, usage, recall, compact, summarize, summaries],
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
    ],
  },
  {
    title: "Conversations of a gateway",
    commands: [sessions, routesList, routesShow, routesSet, routesDelete, config],
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
      tenantDelete,
      completions(() => COMMANDS),
      version,
    ],
  },
];

export const COMMANDS: readonly Command[] = COMMAND_GROUPS.flatMap((group) => group.commands);
