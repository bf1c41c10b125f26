/**
 * Finds transcripts in the history of a git repository: sessions in Entire's checkpoints, and, in a
 * bare clone, histories of SpecStory in the newest commit.
 *
 * They are no files: each is written to a temporary one when it is read. Its path is below the folder
 * of git's own files. The sessions of known commits are remembered, so that neither these nor their
 * trees are read again.
 */

import { writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { FoundFile } from "../ingest/files/walk.ts";
import type { Repository } from "../ingest/identity/git.ts";
import { shortHash } from "../ingest/identity/identity.ts";
import { ProblemLog } from "../ingest/problems.ts";
import {
  CHECKPOINT_REFERENCES,
  type CheckpointSession,
  findCheckpoints,
  joinCheckpoints,
} from "../ingest/repository/checkpoints.ts";
import { GitObjects } from "../ingest/repository/git-objects.ts";
import { messageOf } from "../model/errors.ts";
import { isPlainObject } from "../model/json.ts";
import type { Candidate } from "./candidate.ts";
import type { IngestSetting } from "./ingest-setting.ts";

/** What a named repository has. */
export interface RepositoryFound {
  readonly path: string;
  /** Sessions in checkpoints of Entire. */
  sessions: number;
  /** Files of SpecStory. */
  histories: number;
  /** Checkpoints that could not be read, and why there are none if git cannot be asked. */
  readonly problems: string[];
}

/** Files of SpecStory in a working tree or a commit. */
export function isHistory(path: string): boolean {
  return /(?:^|[/\\])\.specstory[/\\]history[/\\][^/\\]+\.md$/.test(path);
}

type Looking = Pick<IngestSetting, "tenant" | "workstation" | "force" | "dryRun">;
type Found = Pick<FoundFile, "size" | "mtimeUs">;

export async function* findInRepository(
  setting: Looking,
  repository: Repository,
  found: RepositoryFound,
): AsyncGenerator<readonly Candidate[]> {
  try {
    const sessions = await withObjects(repository.gitFolder, (objects) =>
      findSessions(setting, objects, repository, found),
    );
    found.sessions = sessions.length;
    yield sessions;
    if (!repository.isBare) return;
    const histories = await withObjects(repository.gitFolder, (objects) =>
      findHistories(objects, repository),
    );
    found.histories = histories.length;
    yield histories;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    found.problems.push(
      isMissing
        ? "git is not installed, so its checkpoints cannot be read"
        : `git cannot read it: ${messageOf(error).trim().split("\n").at(-1)}`,
    );
  }
}

/** The state of a repository's checkpoints: the commits, and the facts of each session. */
interface Remembered {
  readonly commits: string;
  readonly sessions: Readonly<Record<string, readonly [size: number, mtimeUs: number]>>;
}

/** A larger state is not kept: the trees are then read each time. */
const MAX_STATE_CHARACTERS = 1024 * 1024;

/** Node 22 has no `await using`. */
async function withObjects<Result>(
  gitFolder: string,
  use: (objects: GitObjects) => Promise<Result>,
): Promise<Result> {
  const objects = new GitObjects(gitFolder);
  try {
    return await use(objects);
  } finally {
    await objects[Symbol.asyncDispose]();
  }
}

async function findSessions(
  setting: Looking,
  objects: GitObjects,
  { gitFolder, remote }: Repository,
  found: RepositoryFound,
): Promise<readonly Candidate[]> {
  const folder = join(gitFolder, "entire", "checkpoints");
  const references = await objects.references(...CHECKPOINT_REFERENCES);
  const ids = [...new Set(references.map(({ id }) => id))].sort();
  if (ids.length === 0) return [];
  let reading: Promise<readonly CheckpointSession[]> | undefined;
  const find = (from: GitObjects, problems: ProblemLog) => {
    reading ??= findCheckpoints(from, ids, problems);
    return reading;
  };
  const known = await recall(setting, folder);
  const commits = shortHash(ids.join()) + shortHash(ids.toReversed().join());
  let sessions = known?.commits === commits ? known.sessions : undefined;
  if (sessions === undefined) {
    const problems = new ProblemLog();
    const all = await find(objects, problems);
    found.problems.push(...problems.first.map(({ message }) => message));
    const sizes = await objects.sizes(all.flatMap(partsOf));
    sessions = Object.fromEntries(all.map((each) => [each.name, factsOf(each, sizes)]));
    // What a later fetch may bring is looked for again.
    const isWhole = all.every((each) => partsOf(each).every((id) => sizes.has(id)));
    await remember(setting, folder, isWhole ? { commits, sessions } : undefined);
  }
  return Object.entries(sessions).map(([name, [size, mtimeUs]]) => ({
    file: toFile(join(folder, `${name}.jsonl`), { size, mtimeUs }),
    hint: undefined,
    named: false,
    repository: { remote },
    write: (to) =>
      withObjects(gitFolder, async (own) => {
        const problems = new ProblemLog();
        const session = (await find(own, new ProblemLog())).find((each) => each.name === name);
        if (session !== undefined)
          await writeFile(to, joinCheckpoints(own, session, problems), NEW);
        return problems;
      }),
  }));
}

const NEW = { flag: "wx", mode: 0o600 } as const;

function partsOf({ checkpoints }: CheckpointSession): readonly string[] {
  return checkpoints.flatMap(({ parts }) => parts);
}

/** The microseconds tell other content of the same size and time apart. */
function factsOf(
  session: CheckpointSession,
  sizes: ReadonlyMap<string, number>,
): readonly [number, number] {
  const parts = partsOf(session);
  const size = parts.reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0);
  return [size, (session.checkpoints.at(-1)?.at ?? 0) * 1_000 + markOf(parts.join())];
}

function markOf(text: string): number {
  return Number.parseInt(shortHash(text), 16) % 1_000;
}

async function recall(
  { tenant, workstation, force }: Looking,
  path: string,
): Promise<Remembered | undefined> {
  if (force) return undefined;
  const [known] = await tenant.findIngestedFiles(workstation, [path], { withState: true });
  const state: unknown = known?.state == null ? undefined : JSON.parse(known.state);
  return isPlainObject(state) ? (state as unknown as Remembered) : undefined;
}

async function remember(
  { tenant, workstation, dryRun }: Looking,
  path: string,
  remembered: Remembered | undefined,
): Promise<void> {
  const state = remembered === undefined ? null : JSON.stringify(remembered);
  if (dryRun || state === null || state.length > MAX_STATE_CHARACTERS) return;
  const facts = { size: 0, mtimeUs: 0, offset: 0, lines: 0, tailHash: null, seenAt: Date.now() };
  await tenant.putIngestedFiles(workstation, [{ ...facts, path, source: "entire", state }]);
}

/** Histories of SpecStory in the newest commit: a bare clone has no working tree. */
async function findHistories(
  objects: GitObjects,
  { gitFolder, remote }: Repository,
): Promise<readonly Candidate[]> {
  // A new repository has no commit yet.
  const all = await objects.files("HEAD").catch(() => []);
  const files = all.filter(({ path }) => isHistory(path));
  const sizes = await objects.sizes(files.map(({ id }) => id));
  return files.map(({ path, id }) => ({
    file: toFile(join(gitFolder, path), {
      size: sizes.get(id) ?? 0,
      mtimeUs: timeIn(path) + markOf(id),
    }),
    hint: undefined,
    named: false,
    repository: { remote },
    write: async (to) => {
      const bytes = await withObjects(gitFolder, (own) => own.read(id, Number.POSITIVE_INFINITY));
      const problems = new ProblemLog();
      if (bytes === undefined) problems.add("unreadable", `${path} (${id}) is not in this clone`);
      else await writeFile(to, bytes, NEW);
      return problems;
    },
  }));
}

/** The time in the name of a history, in microseconds. */
function timeIn(path: string): number {
  const [, day, hour, minute, second] =
    /^(\d{4}-\d\d-\d\d)_(\d\d)-(\d\d)-(\d\d)/.exec(basename(path)) ?? [];
  const time = Date.parse(`${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(time) ? 0 : time * 1_000;
}

function toFile(path: string, { size, mtimeUs }: Found): FoundFile {
  return { path, root: dirname(path), size, mtimeUs, allocated: size };
}
