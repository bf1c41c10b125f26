/**
 * How a session ended, as far as it shows: `committed`, `answered`, `unfinished`.
 *
 * Only what the session shows is said. A commit that a person makes elsewhere is not seen, so changed
 * files alone do not make a session unfinished: its last request has no answer, or the last run of
 * tests after its last change failed.
 */

import { toolEffects } from "../../compaction/digest/ledger.ts";
import type { OUTCOME } from "../../model/answers/context.ts";
import { inputTextOf, type ToolResultBlock, type ToolUseBlock, textOf } from "../../model/block.ts";
import type { Entry } from "../../model/entry.ts";
import { BackscrollError } from "../../model/errors.ts";
import { RecentMap } from "../../model/recent-map.ts";
import type { Session } from "../../model/session.ts";
import type { FieldsOf } from "../../model/shape.ts";
import { isInjected, withoutInjected } from "../../search/document/injected.ts";
import type { Store } from "../../store/store.ts";
import type { EngineContext } from "../engine-context.ts";
import { listMessages } from "../read.ts";

export interface Outcome extends FieldsOf<typeof OUTCOME> {}

/** What came of some messages. The paths are of files changed since the last commit, or in it. */
export interface Ended extends Omit<Outcome, "filesChanged"> {
  readonly changed: readonly string[];
  /** Whether a commit before the changes is among the messages: none is missing. */
  readonly isWhole: boolean;
}

/**
 * A command of its own, or a part of a chain; with options of git itself. No word of it goes on into
 * the next part, which begins again: long chains would take squared time.
 */
const COMMITS =
  /(?:^|[;&|(\n])[ \t]*(?:\w+=[^\s;&|(]* +)*git(?: +-(?:[Cc] +[^\s;&|(-][^\s;&|(]*|(?![Cc] )[^\s;&|(]+))* +(?:commit|merge|cherry-pick|revert|am|rebase)\b(?![^;&|(\n]*--(?:dry-run|abort))/;
const COMMIT_TOOL = /git_?commit$/i;
/** `[main 4be1c20] subject`. */
const COMMITTED = /^\[[^\]\n]{1,200} ([0-9a-f]{7,40})\]/m;
const CLEAN = /\bworking (?:tree|directory) clean\b/;
/** A repository of its own, made to try something. */
const ELSEWHERE = /\bgit init\b|\bmktemp\b|\bcd +"?\/(?:private\/)?(?:tmp|var\/folders)\//;
const DISCARDS =
  /\bgit(?: -C \S+)? +(?:stash(?! +(?:list|show|pop|apply))|restore|reset +--hard)\b/;
const TESTS =
  /\b(?:go test|cargo (?:test|nextest)|pytest|vitest|jest|mocha|rspec|phpunit|ctest|tox|(?:npm|pnpm|yarn|bun|mise|make|just|deno|gradle|mvn|dotnet|mix|swift|rake)(?: run)? (?:[\w:-]*test[\w:-]*|check|lint[\w:-]*))\b/;
const INTERRUPTED = /^\[Request interrupted by user/;
/** The result of a call that its person, or the program, refused: it did nothing. */
const REFUSED =
  /^(?:The user doesn't want to (?:proceed|take this action)|\[Request interrupted by user|(?:exec command|Tool call|The tool use was) rejected|\[Operation Cancelled\]|Permission to use )/i;
const COMMAND =
  /^\/(?:add-dir|agents|chat|clear|compact|config|context|copy|cost|doctor|effort|exit|export|fast|feedback|help|hooks|ide|keybindings|login|logout|mcp|memory|model|new|output-style|permissions|plugin|quit|release-notes|reload-plugins|rename|resume|rewind|settings|skills|stats|status|statusline|tasks|terminal-setup|theme|undo|upgrade|usage|vim)(?![\w-])/;
const FAILED_ANSWER = /^(?:API Error\b|Prompt is too long\b)/;
/** Scratch files, and those of agents and tools in the home. */
const OUTSIDE =
  /^(?:\/private)?\/(?:tmp|var\/folders)\/|^(?:~|\/(?:root|(?:home|Users)\/[^/]+))\/\./;

/** Whether it is a client's own command, which asks no model. */
export function asksClient(text: string): boolean {
  return COMMAND.test(text.trimStart());
}

/** Of messages in the order of their path. */
export function endedWith(entries: readonly Entry[]): Ended {
  const open = new Map<string, Pick<Call, "name" | "effects">>();
  let changed = new Set<string>();
  let committed: Ended["changed"] | undefined;
  let commits = 0;
  let commit: string | null = null;
  let testsPassed: boolean | null = null;
  let last: "none" | "asked" | "worked" | "answered" = "none";
  // A request after the commit has its own answer.
  let askedSince = true;

  const settle = (hash: string | null) => {
    // `git push` and the like may name the same commit again, without a change before it.
    if (changed.size > 0 || committed === undefined) committed = [...changed];
    [commit, changed, askedSince] = [hash ?? commit, new Set(), false];
    commits++;
  };
  const finish = ({ name, effects }: Pick<Call, "name" | "effects">, result?: ToolResultBlock) => {
    if (result?.isError === true && effects.commands.length === 0) return;
    const output = result === undefined ? "" : outputOf(result);
    if (REFUSED.test(output)) return;
    for (const path of effects.changed) {
      if (OUTSIDE.test(path)) continue;
      changed.add(path);
      testsPassed = null;
    }
    if (COMMIT_TOOL.test(name) && result !== undefined) settle(hashIn(output));
    for (const command of effects.commands) {
      if (ELSEWHERE.test(command)) continue;
      const worked = result?.isError === false;
      if (TESTS.test(command) && result !== undefined) testsPassed = worked;
      if (worked && COMMITS.test(command)) settle(hashIn(output));
      else if (worked && DISCARDS.test(command)) changed.clear();
      else if (changed.size > 0 && CLEAN.test(output) && !command.includes("stash")) settle(null);
    }
  };

  for (const { role, blocks, metadata, index } of entries) {
    if (index === null) continue;
    const text = isInjected(metadata) ? "" : textOf(blocks).trim();
    if (role === "user" && INTERRUPTED.test(text)) last = "asked";
    const said = role === "user" ? withoutInjected(text).trim() : text;
    if (role === "user" && said !== "" && !asksClient(said)) {
      last = "asked";
      askedSince = true;
    } else if (role === "assistant" && said !== "" && !FAILED_ANSWER.test(said)) last = "answered";
    for (const block of blocks) {
      if (block.type === "tool_use") {
        last = "worked";
        open.set(block.id, { name: block.name, effects: effectsOf(block) });
      } else if (block.type === "tool_result") {
        const call = open.get(block.toolUseId);
        open.delete(block.toolUseId);
        if (call !== undefined) finish(call, block);
      }
    }
  }
  for (const call of open.values()) finish(call);

  const isCommitted = committed !== undefined && changed.size === 0;
  const isAnswered = last === "answered" && !(changed.size > 0 && testsPassed === false);
  const word =
    last === "none"
      ? null
      : isCommitted && (isAnswered || !askedSince)
        ? "committed"
        : isAnswered
          ? "answered"
          : "unfinished";
  const isWhole = commits > (isCommitted ? 1 : 0);
  return {
    word,
    commit,
    testsPassed,
    changed: isCommitted ? (committed ?? []) : [...changed],
    isWhole,
  };
}

interface Call extends ToolUseBlock {
  readonly effects: ReturnType<typeof toolEffects>;
}

function effectsOf(call: ToolUseBlock): Call["effects"] {
  return toolEffects(call.name, inputTextOf(call));
}

function outputOf({ output }: ToolResultBlock): string {
  return typeof output === "string" ? output : textOf(output);
}

function hashIn(output: string): string | null {
  return COMMITTED.exec(output)?.[1] ?? null;
}

/** Messages of a session's end that are read first; without a change or a commit among them, more. */
const LAST_MESSAGES = 100;
const MOST_MESSAGES = 400;

/** Sessions that are read together. */
const AT_ONCE = 8;

/** Outcomes of a process, by session. */
const MAX_KNOWN = 4_096;
const KNOWN = new WeakMap<Store, RecentMap<string, Known>>();

interface Known extends Outcome {
  /** The state of the session that it is of. */
  readonly of: string;
}

/** By the session's id. Reads the end of each session that has changed since the last call. */
export async function readOutcomes(
  engine: EngineContext,
  sessions: readonly Session[],
): Promise<ReadonlyMap<string, Outcome>> {
  const { store, tenant } = engine;
  const known = KNOWN.get(store) ?? new RecentMap<string, Known>(MAX_KNOWN);
  KNOWN.set(store, known);
  const read = async (session: Session): Promise<[string, Outcome] | undefined> => {
    const key = `${tenant}/${session.id}`;
    const of = `${session.entryCount}/${session.leaf}`;
    let outcome = known.get(key);
    if (outcome?.of !== of) {
      const ended = await readEnd(engine, session).catch(ifDeleted);
      if (ended === undefined) return undefined;
      const { changed, isWhole, ...shown } = ended;
      outcome = { ...shown, filesChanged: isWhole ? changed.length : null, of };
      known.set(key, outcome);
    }
    const { of: _, ...shown } = outcome;
    return [session.id, shown];
  };
  const outcomes: [string, Outcome][] = [];
  for (let at = 0; at < sessions.length; at += AT_ONCE) {
    const some = await Promise.all(sessions.slice(at, at + AT_ONCE).map(read));
    outcomes.push(...some.filter((each) => each !== undefined));
  }
  return new Map(outcomes);
}

function ifDeleted(error: unknown): undefined {
  if (!BackscrollError.is(error, "session_not_found")) throw error;
}

async function readEnd(
  engine: EngineContext,
  { id, messageCount }: Session,
): Promise<Ended | undefined> {
  let end = messageCount;
  for (const limit of [LAST_MESSAGES, MOST_MESSAGES]) {
    const read = (offset: number) =>
      listMessages(engine, id, { offset: Math.max(0, offset), limit, preview: true });
    let page = await read(end - limit);
    // Messages of other branches are counted, too.
    if (page.total < end) {
      end = page.total;
      page = await read(end - limit);
    }
    const ended = endedWith(page.messages);
    const isWhole = end <= limit;
    const isKnown = ended.changed.length > 0 || ended.word === "committed" || isWhole;
    if (isKnown || limit === MOST_MESSAGES) return { ...ended, isWhole: isWhole || ended.isWhole };
  }
  return undefined;
}
