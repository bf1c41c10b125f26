/**
 * Transcripts in the checkpoints of Entire: trees of a branch `entire/checkpoints/v1`, or of a
 * reference for each checkpoint.
 *
 * A checkpoint has a folder for each session, with the agent's transcript up to then, or, of older
 * versions, since the checkpoint before. So a session's transcript is that of its checkpoints
 * together. Format taken from entireio/cli (`docs/architecture/sessions-and-checkpoints.md`).
 */

import { createHash } from "node:crypto";
import { isPlainObject } from "../../model/json.ts";
import { textField, timeField } from "../fields.ts";
import type { ProblemLog } from "../problems.ts";
import type { GitObjects, TreeEntry } from "./git-objects.ts";

/** Branches, also of remotes, and the references of newer versions. */
export const CHECKPOINT_REFERENCES: readonly string[] = [
  "refs/heads/entire/checkpoints",
  "refs/remotes/*/entire/checkpoints/**",
  "refs/entire/checkpoints",
];

/** A session's transcript at one checkpoint, in parts. */
interface Checkpoint {
  readonly parts: readonly string[];
  readonly at: number;
}

export interface CheckpointSession {
  /** The name of its transcript: the agent's id of it. */
  readonly name: string;
  /** The oldest first. */
  readonly checkpoints: readonly Checkpoint[];
}

const TRANSCRIPT = /^full\.jsonl(?:\.\d{1,6})?$/;
const SUB_AGENT = /^(agent-[\w-]{1,100})\.jsonl$/;
const MAX_METADATA_BYTES = 4 * 1024 * 1024;
/** Checkpoints are nested four deep. */
const MAX_DEPTH = 10;

/** The sessions in the checkpoints below some commits; `problems` has what could not be read. */
export async function findCheckpoints(
  objects: GitObjects,
  commits: readonly string[],
  problems: ProblemLog,
): Promise<readonly CheckpointSession[]> {
  const sessions = new Map<string, Map<string, Checkpoint>>();
  const add = (name: string, parts: readonly string[], at: number) => {
    const known = sessions.get(name) ?? new Map<string, Checkpoint>();
    // Branches share checkpoints, and a session without news keeps its transcript.
    if (!known.has(parts.join())) known.set(parts.join(), { parts, at });
    sessions.set(name, known);
  };
  // A tree that is in many places is read once: commits share most of them.
  const seen = new Set<string>();
  const visit = async (id: string, depth: number, above: number) => {
    if (seen.has(id) || depth > MAX_DEPTH) return;
    seen.add(id);
    const entries = await objects.tree(id);
    const metadata = await readMetadata(objects, entries);
    const at = metadata.at ?? above;
    const files = entries.filter(({ isTree }) => !isTree);
    const parts = files.filter(({ name }) => TRANSCRIPT.test(name)).toSorted(byName);
    if (parts.length > 0 && metadata.session === undefined) {
      problems.add("unexpected", `a checkpoint without a session (tree ${id}) was left out`);
    } else if (parts.length > 0) add(metadata.session as string, idsOf(parts), at);
    for (const { name, id: file } of files) {
      const [, agent] = SUB_AGENT.exec(name) ?? [];
      if (agent !== undefined) add(agent, [file], at);
    }
    for (const entry of entries) if (entry.isTree) await visit(entry.id, depth + 1, at);
  };
  for (const commit of commits) await visit(commit, 0, 0);
  return [...sessions].map(([name, checkpoints]) => ({
    name,
    checkpoints: [...checkpoints.values()].sort((a, b) => a.at - b.at),
  }));
}

function byName({ name: a }: TreeEntry, { name: b }: TreeEntry): number {
  return a.length - b.length || (a < b ? -1 : 1);
}

function idsOf(entries: readonly TreeEntry[]): readonly string[] {
  return entries.map(({ id }) => id);
}

async function readMetadata(
  objects: GitObjects,
  entries: readonly TreeEntry[],
): Promise<{ readonly session?: string; readonly at?: number }> {
  const file = entries.find(({ name, isTree }) => name === "metadata.json" && !isTree);
  const bytes = file === undefined ? undefined : await objects.read(file.id, MAX_METADATA_BYTES);
  const fields = bytes === undefined ? undefined : tryParse(bytes);
  if (!isPlainObject(fields)) return {};
  // Older versions put the day before the agent's id.
  const session = textField(fields, "session_id")?.replace(/^\d{4}-\d\d-\d\d-(?=.)/, "");
  const at = timeField(fields, "created_at");
  return {
    ...(session === undefined || !/^[\w.-]{1,200}$/.test(session) ? {} : { session }),
    ...(at === null ? {} : { at }),
  };
}

function tryParse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    // Damaged: its checkpoint has no session, which is reported.
    return undefined;
  }
}

/** A part has at most 50 MB. */
const MAX_PART_BYTES = 128 * 1024 * 1024;
const NEWLINE = Buffer.from("\n");

/**
 * The lines of all checkpoints of a session, each once, or its newest document. What is not in the
 * repository is reported.
 */
export async function* joinCheckpoints(
  objects: GitObjects,
  { checkpoints }: CheckpointSession,
  problems: ProblemLog,
): AsyncGenerator<Uint8Array> {
  const read = async ({ parts, at }: Checkpoint): Promise<Buffer | undefined> => {
    const found: Buffer[] = [];
    for (const id of parts) {
      const part = await objects.read(id, MAX_PART_BYTES);
      if (part === undefined) {
        const when = new Date(at).toISOString();
        const why = `the transcript of ${when} (${id}) is not in this clone, or too long`;
        problems.add("unreadable", why);
        return undefined;
      }
      found.push(...(found.length === 0 ? [] : [NEWLINE]), part);
    }
    return found.length === 1 ? found[0] : Buffer.concat(found);
  };
  const written = new Map<string, number>();
  let document: Buffer | undefined;
  for (const [i, checkpoint] of checkpoints.entries()) {
    const transcript = await read(checkpoint);
    if (transcript === undefined) continue;
    if (isDocument(transcript)) {
      document = transcript;
      continue;
    }
    const isLast = i === checkpoints.length - 1;
    const own = new Map<string, number>();
    const fresh: Buffer[] = [];
    for (const line of linesOf(transcript, isLast)) {
      const hash = createHash("md5").update(line).digest("base64");
      const count = (own.get(hash) ?? 0) + 1;
      own.set(hash, count);
      if (count <= (written.get(hash) ?? 0)) continue;
      written.set(hash, count);
      fresh.push(line, NEWLINE);
    }
    if (fresh.length > 0) yield Buffer.concat(fresh);
  }
  if (document !== undefined && written.size === 0) yield document;
}

/** Whether it is one JSON value on many lines. */
function isDocument(transcript: Buffer): boolean {
  const end = transcript.indexOf(NEWLINE);
  return end >= 0 && tryParse(transcript.subarray(0, end)) === undefined;
}

/** An unfinished last line is whole in the next checkpoint. */
function* linesOf(transcript: Buffer, isLast: boolean): Generator<Buffer> {
  for (let start = 0; start < transcript.length; ) {
    const end = transcript.indexOf(NEWLINE, start);
    const line = transcript.subarray(start, end < 0 ? undefined : end);
    if (line.length > 0 && (end >= 0 || isLast || tryParse(line) !== undefined)) yield line;
    start += line.length + 1;
  }
}
