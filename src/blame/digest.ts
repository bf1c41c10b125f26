/**
 * A digest of a branch for a reviewer, as Markdown: what was asked, decided and rejected, what was
 * tried and failed, which tests ran, which conversation changed which files, and what it cost.
 *
 * Without a model. Secrets are masked, outputs of tools are never quoted, and nobody is counted.
 */

import { LONGEST_SECRET, maskText } from "../api/mask.ts";
import { oneLine } from "../compaction/digest/timeline.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import type { WORK_DIGEST } from "../model/answers/blame.ts";
import { formatCount } from "../model/display.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import type { FieldsOf } from "../model/shape.ts";
import { bareCommand, type Call, readActs } from "../recap/read-acts.ts";
import { isLookup } from "../recap/recap.ts";
import { isSameFile } from "../recap/trace-session.ts";
import { reasonFinder } from "../unasked/file/decisions.ts";
import type { BlamedCommit, BlamedSession, BlameInput } from "./blame.ts";
import { BATCH, blameWork, countLines } from "./blame.ts";
import { didPass, isTestRun } from "./explain.ts";
import { quoted } from "./show-blame.ts";

const MAX_LINES = 60;
const HASH = 8;
const SHOWN = { commits: 7, asked: 6, decided: 5, failed: 4, tests: 4, files: 6, cost: 3 } as const;
const QUOTE = 200;
const HOUR = 60 * 60_000;
/** Before its first edit, a conversation is about what it will change. */
const BEFORE = 6 * HOUR;
const AFTER = HOUR;
/** A sentence that names something of the changes, and gives a reason or rules something out. */
const DECIDED = 3;

export interface DigestInput extends Pick<BlameInput, "commits"> {}

export interface WorkDigest extends FieldsOf<typeof WORK_DIGEST> {}

/** A tenant of a server digests there, in one request. */
type Digesting = TenantApi & { digestWork?(input: DigestInput): Promise<WorkDigest> };

export async function digestWork(tenant: Digesting, input: DigestInput): Promise<WorkDigest> {
  checkFields(input, "options", INPUTS.digestWork);
  // What is too much for one request is asked for in parts, and put together here.
  const isSmall = countLines(input.commits) <= BATCH;
  if (tenant.digestWork !== undefined && isSmall) return tenant.digestWork(input);
  const { answers, incomplete } = await blameWork(tenant, input);
  const works = new Map<string, Work>();
  for (const [i, { sessions }] of answers.entries()) {
    const commit = input.commits[i];
    if (commit === undefined) continue;
    for (const session of sessions) {
      const work: Work = works.get(session.id) ?? { session, commits: [], asked: new Map() };
      works.set(session.id, work);
      work.commits.push(commit);
      if (session.asked !== null) work.asked.set(session.asked.index, session.asked.text);
    }
  }
  const all = [...works.values()];
  const parts: Parts[] = [];
  // Each may be megabytes: one at a time.
  for (const work of all) parts.push(await partsOf(tenant, work));
  const together = (name: keyof Parts, most: number) =>
    limited(
      parts.flatMap((each) => each[name]),
      most,
    );
  const none = answers.filter(({ sessions }) => sessions.length === 0).length;
  const lines = [
    `# ${counted(answers.length, "commit")}, ${counted(all.length, "conversation")}`,
    ...section("Asked", together("asked", SHOWN.asked)),
    ...section("Decided and rejected", together("decided", SHOWN.decided)),
    ...section("Tried and failed", together("failed", SHOWN.failed)),
    ...section("Tests", together("tests", SHOWN.tests)),
    ...section("Files", together("files", SHOWN.files)),
    ...section(
      "Commits",
      limited(
        answers.map(({ commit, subject, sessions }) => {
          const by = sessions.map(({ shortId, sure }) =>
            sure === "yes" ? shortId : `${shortId}?`,
          );
          const wrote = by.length === 0 ? "no stored conversation" : by.join(", ");
          return `- ${commit?.slice(0, HASH)} ${masked(subject, 72)} — ${wrote}`;
        }),
        SHOWN.commits,
      ),
    ),
    ...section("Cost", parts.flatMap(({ cost }) => cost).slice(0, SHOWN.cost)),
    ...(incomplete
      ? ["", "Some of the store is not indexed yet: conversations may be missing."]
      : []),
    ...(none > 0 ? ["", `Of ${counted(none, "commit")} no conversation is stored.`] : []),
  ];
  return { markdown: lines.slice(0, MAX_LINES).join("\n"), conversations: all.length, incomplete };
}

interface Work {
  readonly session: BlamedSession;
  readonly commits: BlamedCommit[];
  readonly asked: Map<number, string>;
}

type Parts = Readonly<
  Record<"asked" | "decided" | "failed" | "tests" | "files" | "cost", readonly string[]>
>;

async function partsOf(tenant: TenantApi, { session, commits, asked }: Work): Promise<Parts> {
  const { id, shortId, agent, edit } = session;
  const last = Math.max(...commits.map(({ committedAt }) => committedAt));
  const first = Math.min(edit?.at ?? last, ...commits.map(({ authoredAt }) => authoredAt));
  const period = { since: first - BEFORE, until: last + AFTER };
  const { acts } = await readActs(tenant, id, period);
  const calls = acts.filter((act) => act.type === "call");
  const files = commits.flatMap((commit) => commit.files);
  const lines = files.flatMap(({ added, removed }) => [...added, ...removed]).join("\n");
  const reasonsIn = reasonFinder(lines);
  const decided = acts.flatMap((act) =>
    act.type === "said" ? reasonsIn(act.text).map((each) => ({ ...each, index: act.index })) : [],
  );
  const ruled = decided.filter(({ score }) => score >= DECIDED).sort((a, b) => b.score - a.score);
  const { costMicroUsd, tokens } = (await tenant.stats({ session: id })).total;
  return {
    asked: [...asked]
      .sort(([a], [b]) => a - b)
      .map(([index, text]) => `- ${quoted(masked(text, QUOTE))} (${shortId}#${index})`),
    decided: unique(
      ruled.map(({ text, index }) => `- "${masked(text, QUOTE)}" (${shortId}#${index})`),
    ),
    failed: failuresOf(calls, shortId),
    tests: testsOf(calls, shortId),
    files: filesOf(calls, files, shortId),
    cost: [
      `- ${shortId} (${agent}): $${(costMicroUsd / 1_000_000).toFixed(2)} at list prices, ${formatCount(tokens.outputTokens)} tokens written, for the whole conversation`,
    ],
  };
}

function failuresOf(calls: readonly Call[], shortId: string): readonly string[] {
  const runs = runsOf(
    calls.filter((call) => call.effects.commands.some((each) => !isLookup(each))),
  );
  return [...runs].flatMap(([command, all]) => {
    const failures = all.filter((call) => call.result !== undefined && !didPass(call));
    const last = failures.at(-1);
    if (last === undefined) return [];
    const cured = all.find((call) => call.index > last.index && didPass(call));
    const times = failures.length === 1 ? "failed" : `failed ${failures.length} times`;
    const then = cured ? `passed at #${cured.index}` : "not seen to pass";
    return [`- \`${masked(command, 90)}\` ${times} (${shortId}#${last.index}), ${then}`];
  });
}

function testsOf(calls: readonly Call[], shortId: string): readonly string[] {
  const runs = runsOf(calls.filter((call) => call.effects.commands.some(isTestRun)));
  // A failure first, then the widest: a short command runs most.
  const rank = (command: string, all: readonly Call[]) =>
    command.length - (all.some((call, i) => i === all.length - 1 && !didPass(call)) ? 1_000 : 0);
  const shown = new Set<Call>();
  return [...runs]
    .sort((a, b) => rank(...a) - rank(...b))
    .flatMap(([command, all]) => {
      const last = all.at(-1);
      if (last === undefined || shown.has(last)) return [];
      shown.add(last);
      const how = last.result === undefined ? "ran" : didPass(last) ? "passed" : "failed";
      return [`- \`${masked(command, 90)}\` ${how} last (${shortId}#${last.index})`];
    });
}

/** The runs of each command; one that passed as a part of another (`build && test`) ran, too. */
function runsOf(calls: readonly Call[]): ReadonlyMap<string, Call[]> {
  const commandOf = ({ effects }: Call) => bareCommand(effects.commands[0] ?? "");
  const runs = new Map<string, Call[]>(calls.map((call) => [commandOf(call), []]));
  for (const call of calls) {
    const command = commandOf(call);
    const parts =
      didPass(call) && !/[;|]/.test(command) ? command.split("&&").map((part) => part.trim()) : [];
    for (const name of new Set([command, ...parts])) runs.get(name)?.push(call);
  }
  return runs;
}

function filesOf(
  calls: readonly Call[],
  files: BlamedCommit["files"],
  shortId: string,
): readonly string[] {
  const changed = [...new Set(calls.flatMap(({ effects }) => effects.changed))];
  const sums = new Map<string, { added: number; removed: number }>();
  for (const { path, added, removed } of files) {
    if (!changed.some((each) => isSameFile(each, path))) continue;
    const sum = sums.get(path) ?? { added: 0, removed: 0 };
    sums.set(path, { added: sum.added + added.length, removed: sum.removed + removed.length });
  }
  return [...sums].map(
    ([path, { added, removed }]) => `- ${masked(path, 90)} +${added} −${removed} (${shortId})`,
  );
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", `## ${title}`, ...lines];
}

function limited(lines: readonly string[], most: number): readonly string[] {
  const left = lines.length - most;
  return left > 0 ? [...lines.slice(0, most), `- … ${left} more`] : lines;
}

function unique(lines: readonly string[]): readonly string[] {
  return [...new Set(lines)];
}

function counted(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** On one line, without the marks that would end a quote or a code span. */
function masked(text: string, characters: number): string {
  const plain = text.replace(/[`|<>]/g, " ").trim();
  return oneLine(maskText(plain.slice(0, characters + LONGEST_SECRET)), characters);
}
