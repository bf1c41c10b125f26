/** Why an edit was made: what was asked, the reason that was given, the tests that ran after it. */

import type { TenantApi } from "../engine/interfaces.ts";
import { inputTextOf, textOf } from "../model/block.ts";
import { type Act, actsOf, bareCommand, type Call } from "../recap/read-acts.ts";
import type { RecapLine } from "../recap/recap.ts";
import { isLookup } from "../recap/recap.ts";
import { reasonFinder } from "../unasked/file/decisions.ts";
import { askedBefore } from "./asked.ts";
import { type ChangedLines, changedLines } from "./lines/changed-lines.ts";

/** Messages read before an edit to find the request, and after it to find tests. */
const MOST_BEFORE = 1_500;
const AFTER = 40;
const PAGE = 100;

export interface TestRun {
  readonly index: number;
  readonly command: string;
  /** Null without a known result. */
  readonly passed: boolean | null;
}

export interface Explanation {
  readonly entryId: string;
  /** The message of the edit, on its path. */
  readonly index: number;
  readonly changes: ChangedLines["changes"];
  readonly tool: string;
  readonly asked: RecapLine | null;
  readonly because: RecapLine | null;
  readonly tests: TestRun | null;
}

/** Explains edits; edits of one session share what was read of it. */
export class Explainer {
  readonly #tenant: TenantApi;
  /** By session or leaf, and number. */
  readonly #pages = new Map<string, Promise<Page>>();

  constructor(tenant: TenantApi) {
    this.#tenant = tenant;
  }

  /** `entryId` is the message of an edit, with the index `index` on its path. */
  async explain(sessionId: string, entryId: string, index: number): Promise<Explanation> {
    const edit = await this.#tenant.getEntry(entryId);
    const last = Math.floor(index / PAGE);
    const isActive = (await this.#page(sessionId, undefined, last)).ids[index % PAGE] === entryId;
    const leaf = isActive ? undefined : entryId;
    const acts = [...(await this.#page(sessionId, leaf, last)).acts];
    let before = acts.filter((act) => act.index < index).length;
    let asked = askedBefore(acts, before);
    for (let page = last - 1; page >= 0 && asked?.isWhole !== true; page--) {
      if ((last - page) * PAGE > MOST_BEFORE) break;
      const earlier = (await this.#page(sessionId, leaf, page)).acts;
      acts.unshift(...earlier);
      before += earlier.length;
      asked = askedBefore(acts, before);
    }
    if (index % PAGE > PAGE - AFTER) {
      acts.push(...(await this.#page(sessionId, leaf, last + 1)).acts);
    }
    const calls = edit.blocks.filter((block) => block.type === "tool_use");
    const changes = calls.flatMap((call) => changedLines(call.name, inputTextOf(call)).changes);
    const own = actsOf([edit]).filter((act) => act.type === "said");
    const later = acts.filter((act) => act.index > index && act.index <= index + AFTER);
    return {
      entryId,
      index,
      changes,
      tool: calls[0]?.name ?? edit.actor ?? "",
      asked: asked === undefined ? null : { index: asked.index, text: asked.text },
      because: becauseOf([...acts.slice(asked?.from ?? 0, before), ...own], changes) ?? null,
      tests: testAfter(later) ?? null,
    };
  }

  #page(sessionId: string, leaf: string | undefined, number: number): Promise<Page> {
    const key = `${leaf ?? sessionId} ${number}`;
    const known = this.#pages.get(key) ?? this.#read(sessionId, leaf, number);
    this.#pages.set(key, known);
    return known;
  }

  async #read(sessionId: string, leaf: string | undefined, number: number): Promise<Page> {
    const path = leaf === undefined ? {} : { leaf };
    const part = { offset: number * PAGE, limit: PAGE, preview: true };
    const { messages } = await this.#tenant.listMessages(sessionId, { ...part, ...path });
    const whole = await Promise.all(
      messages.map((entry) =>
        entry.truncated && textOf(entry.blocks) !== "" ? this.#tenant.getEntry(entry.id) : entry,
      ),
    );
    return { ids: messages.map(({ id }) => id), acts: actsOf(whole) };
  }
}

interface Page {
  readonly ids: readonly string[];
  readonly acts: readonly Act[];
}

/** The agent's sentence that names something of the lines, one with a reason first. */
function becauseOf(acts: readonly Act[], changes: ChangedLines["changes"]): RecapLine | undefined {
  const lines = changes.flatMap(({ added, removed }) => [...added, ...removed]).join("\n");
  const reasonsIn = reasonFinder(lines);
  let [best, most] = [undefined as RecapLine | undefined, 0];
  for (const act of acts) {
    if (act.type !== "said" || act.role !== "assistant") continue;
    for (const { text, score } of reasonsIn(act.text)) {
      if (score >= most) [best, most] = [{ index: act.index, text }, score];
    }
  }
  return best;
}

const TESTS =
  /(?:^|[\s/:;&|])(?:tests?|vitest|jest|pytest|rspec|mocha|tox|ctest|phpunit|spec|e2e|check|lint|clippy|tsc|playwright)(?=$|[\s:;&|.])/i;

/** Their messages tell of tests. */
const WRITES = /\b(?:git (?:commit|tag)|gh (?:pr|issue|api|release|gist)|glab)\b/;

export function isTestRun(command: string): boolean {
  return TESTS.test(bareCommand(command)) && !isLookup(command) && !WRITES.test(command);
}

/** False without a known result. */
export function didPass({ result }: Call): boolean {
  return result !== undefined && !result.failed && !FAILED.test(result.output);
}

/** The first run, and those after it up to the next change or request: the last of them. */
function testAfter(acts: readonly Act[]): TestRun | undefined {
  let last: TestRun | undefined;
  for (const act of acts) {
    const goesOn = act.type === "said" ? act.role === "user" : act.effects.changed.length > 0;
    if (goesOn && last !== undefined) break;
    const command = act.type === "call" ? act.effects.commands.find(isTestRun) : undefined;
    if (act.type !== "call" || command === undefined) continue;
    const { result } = act;
    last = {
      index: result?.index ?? act.index,
      command: bareCommand(command),
      passed: result === undefined ? null : didPass(act),
    };
  }
  return last;
}

/** What a pipeline whose last part succeeded prints of its failed tests. */
const FAILED =
  /^(?:--- )?FAIL\b|\b[1-9]\d* (?:tests? )?(?:failed|failing)\b|exit (?:code|status) [1-9]/m;
