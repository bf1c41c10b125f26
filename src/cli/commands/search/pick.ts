/** The picker on a terminal: reads keys, asks the store, draws, and resumes in the session's agent. */

import { spawn } from "node:child_process";
import { emitKeypressEvents } from "node:readline";
import type { TenantApi } from "../../../engine/interfaces.ts";
import { outcomeWords, projectName } from "../../../model/display.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { type Choice, EMPTY, type Key, type Picker, press, screenOf } from "../../picker/picker.ts";
import { formatAge } from "../../print.ts";
import { formatEntry } from "../../print-session.ts";
import { withStore } from "../../store.ts";
import type { Terminal } from "../../terminal.ts";
import { oneLine, widthOf, wrapLine } from "../../text.ts";
import { resumeCommand } from "../ingest/resume.ts";
import { list } from "../sessions/list.ts";

const CHOICES = 20;
/** Messages that are read around the found one. */
const READ = 100;
const ALTERNATE_SCREEN = "\u001b[?1049h";
const OWN_SCREEN = "\u001b[?1049l";

export const pick: Command = defineCommand({
  name: "pick",
  summary: "Choose a session: type and see, Enter reads, r resumes.",
  details:
    "The default without a command, in a terminal whose store has sessions. Resuming runs the command of backscroll resume, in the session's folder and agent. Elsewhere than on a terminal it is list.",
  examples: ["pick"],
  run: async (context) => {
    if (process.stdin.isTTY !== true || process.stdout.isTTY !== true) {
      return list.run(context, {}, {});
    }
    const chosen = await withStore(context, "read", (tenant) =>
      runPicker(tenant, context.terminal),
    );
    if (chosen === undefined) return EXIT.ok;
    await context.terminal.print(chosen);
    return new Promise<number>((resolve, reject) => {
      const child = spawn(chosen, { shell: true, stdio: "inherit" });
      child.on("error", reject);
      child.on("exit", (code) => resolve(code ?? EXIT.ok));
    });
  },
});

/** The command that resumes the chosen session; undefined if the person left. */
async function runPicker(tenant: TenantApi, terminal: Terminal): Promise<string | undefined> {
  const { stdin, stdout } = process;
  const size = () => [stdout.columns || 80, stdout.rows || 24] as const;
  let picker: Picker = EMPTY;
  let searched: string | undefined;
  const draw = () => {
    const [columns, rows] = size();
    const lines = screenOf(picker, terminal, columns, rows);
    const shown = lines.map((line) => `${line}\u001b[K`).join("\r\n");
    // The cursor stands behind what is typed.
    const at = picker.reading === undefined ? `\u001b[1;${widthOf(picker.query) + 3}H` : "";
    stdout.write(`\u001b[H${shown}\u001b[J${at}`);
  };
  /** One search at a time, always of what is typed now. */
  let isSearching = false;
  const search = async () => {
    if (isSearching) return;
    isSearching = true;
    try {
      while (searched !== picker.query) {
        const { query } = picker;
        const choices = await findChoices(tenant, query);
        searched = query;
        if (picker.query === query) picker = { ...picker, choices };
        draw();
      }
    } finally {
      isSearching = false;
    }
  };
  stdout.write(ALTERNATE_SCREEN);
  stdin.setRawMode(true);
  emitKeypressEvents(stdin);
  stdin.resume();
  draw();
  try {
    return await new Promise<string | undefined>((resolve, reject) => {
      const fail = (error: unknown) => reject(error);
      const onKey = (text: string | undefined, key: Key | undefined) => {
        const rows = size()[1];
        const { next, wish } = press(picker, { ...key, text }, rows);
        picker = next;
        const choice = picker.choices?.[picker.selected];
        if (wish === "leave") return resolve(undefined);
        if (wish === "search") void search().catch(fail);
        if (wish === "read" && choice !== undefined) {
          void readChoice(tenant, terminal, choice, size()[0]).then((reading) => {
            picker = { ...picker, reading };
            draw();
          }, fail);
        }
        if (wish === "resume" && choice !== undefined) {
          void tenant.getSessionMeta(choice.sessionId).then((session) => {
            const command = resumeCommand(session);
            if (command !== null) return resolve(command);
            picker = { ...picker, note: `${session.agent} has no command that resumes it` };
            draw();
          }, fail);
        }
        draw();
      };
      stdin.on("keypress", onKey);
      stdout.on("resize", draw);
      void search().catch(fail);
    });
  } finally {
    stdin.removeAllListeners("keypress");
    stdout.removeListener("resize", draw);
    stdin.setRawMode(false);
    stdin.pause();
    stdout.write(OWN_SCREEN);
  }
}

async function findChoices(tenant: TenantApi, query: string): Promise<readonly Choice[]> {
  if (query.trim() === "") {
    const page = await tenant.listSessions({ nested: true, outcomes: true, limit: CHOICES });
    return page.sessions.map(({ id, title, agent, origin, lastInteractionAt }) => {
      const outcome = page.outcomes?.get(id);
      const facts = [
        agent,
        projectName(origin.projectPath ?? ""),
        formatAge(Date.now() - lastInteractionAt),
        outcome === undefined ? "" : outcomeWords(outcome),
      ];
      const line = oneLine(facts.filter((fact) => fact !== "").join(" · "));
      return { sessionId: id, head: oneLine(title) || "(no title)", line, entryId: null };
    });
  }
  const { hits } = await tenant.searchSessions(query, {
    limit: CHOICES,
    asYouType: true,
    contextBefore: 0,
    contextAfter: 0,
  });
  return hits.map(({ sessionId, meta, entryId, window }) => {
    const found = window.find((item) => item.found);
    const [first] = found?.matches ?? [];
    // A little before the first match, from the beginning of a word on.
    const start = Math.max(0, (first?.start ?? 0) - LEAD);
    const text = found?.snippet.slice(start).replace(start > 0 ? /^\S*\s/ : /^/, "") ?? "";
    const head = oneLine(meta.title) || "(no title)";
    return { sessionId, head, line: oneLine(text) || meta.agent, entryId };
  });
}

/** Characters of a message before its first match. */
const LEAD = 24;

async function readChoice(
  tenant: TenantApi,
  terminal: Terminal,
  { sessionId, entryId }: Choice,
  columns: number,
): Promise<NonNullable<Picker["reading"]>> {
  const page = await tenant.listMessages(sessionId, {
    limit: READ,
    ...(entryId === null ? {} : { around: entryId }),
  });
  let from = 0;
  const lines: string[] = [];
  for (const entry of page.messages) {
    if (entry.id === entryId) from = lines.length;
    const shown = formatEntry(entry, terminal, { full: true, tools: false });
    lines.push(...shown.flatMap((line) => wrapLine(line, columns)));
  }
  return { lines, from };
}
