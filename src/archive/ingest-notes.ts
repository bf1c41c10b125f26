/**
 * Imports agents' own notes as memories.
 *
 * A memory follows its file: it changes with it, and is deleted with it. Workstation, project and
 * path identify it; a note longer than a memory becomes several.
 */

import { open, readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { type FoundFile, noCounts, walk } from "../ingest/files/walk.ts";
import { projectId, shortHash } from "../ingest/identity/identity.ts";
import type { NotePlace, TranscriptSource } from "../ingest/source.ts";
import { ignoring } from "../model/errors.ts";
import { isPlainObject, type JsonObject } from "../model/json.ts";
import { MAX_MEMORY_BYTES, MAX_NAME_BYTES, MAX_PAGE } from "../model/limits.ts";
import type { Memory } from "../model/note.ts";
import type { IngestSetting } from "./ingest-setting.ts";

export interface NoteTotals {
  /** New or changed memories. */
  readonly written: number;
  /** Memories of deleted files. */
  readonly removed: number;
  /** Files above the limit, which were skipped. */
  readonly tooLong: number;
}

export const NO_NOTES: NoteTotals = { written: 0, removed: 0, tooLong: 0 };

/** The metadata key of a memory's file. */
const FILE_KEY = "file";

/** A note is a page or two; larger files are not notes. */
const MAX_NOTE_BYTES = 256 * 1024;

/** Reads all notes in the agents' places. */
export async function ingestNotes(setting: IngestSetting): Promise<NoteTotals> {
  const { sources, only, environment, dryRun } = setting;
  let written = 0;
  let removed = 0;
  let tooLong = 0;
  for (const source of dryRun ? [] : only === undefined ? sources : [only]) {
    for (const place of source.notes?.(environment) ?? []) {
      const totals = await ingestPlace(setting, source, place);
      written += totals.written;
      removed += totals.removed;
      tooLong += totals.tooLong;
    }
  }
  return { written, removed, tooLong };
}

/** Whether a changed path is a note. */
export function isNotePath({ sources, environment }: IngestSetting, path: string): boolean {
  return sources.some((source) =>
    (source.notes?.(environment) ?? []).some(({ root, matches }) =>
      matches(relative(root, path).split(sep).join("/")),
    ),
  );
}

async function ingestPlace(
  setting: IngestSetting,
  { name: agent }: TranscriptSource,
  place: NotePlace,
): Promise<NoteTotals> {
  const { tenant } = setting;
  const found: FoundFile[] = [];
  for await (const group of walk(place, noCounts())) found.push(...group);
  const known = await knownNotes(setting, agent, place.root);
  if (found.length === 0 && (known.length === 0 || !(await folderExists(place.root)))) {
    return NO_NOTES;
  }
  const kept = new Set<string>();
  let written = 0;
  const projects = new Map<string, Promise<string | undefined>>();
  for (const file of found) {
    const folder = place.projectOf(relative(place.root, file.path).split(sep).join("/"));
    const reading = projects.get(folder) ?? findProject(join(place.root, folder), folder);
    projects.set(folder, reading);
    const own = known.filter(({ metadata }) => pathOf(metadata) === file.path);
    const project = await reading;
    const subject = { source: agent, agent, cwd: project ?? null };
    const encoded = project === undefined ? setting.rules.findEncoded(folder) : undefined;
    const rule = encoded ?? (await setting.rules.find(subject));
    if (rule !== undefined) {
      for (const { name } of own) kept.add(name);
      continue;
    }
    if (own.length > 0 && own.every(({ metadata }) => isCurrent(metadata, file, project))) {
      for (const { name } of own) kept.add(name);
      continue;
    }
    for (const memory of await readNote(setting, file, place, folder, project)) {
      kept.add(memory.name);
      await tenant.putMemory({ agent, ...memory });
      written++;
    }
  }
  let removed = 0;
  for (const { name } of known) {
    if (kept.has(name)) continue;
    await deleteNote(setting, agent, name);
    removed++;
  }
  const tooLong = found.filter(({ size }) => size > MAX_NOTE_BYTES).length;
  return { written, removed, tooLong };
}

/** The memories of files below `root` on this workstation. */
async function knownNotes(
  { tenant, workstation }: IngestSetting,
  agent: string,
  root: string,
): Promise<Memory[]> {
  const known: Memory[] = [];
  let after: Memory | undefined;
  for (;;) {
    const page = await tenant.listMemories({
      agent,
      limit: MAX_PAGE,
      ...(after === undefined ? {} : { after: { agent: after.agent, name: after.name } }),
    });
    for (const memory of page) {
      const isOwn = memory.metadata["workstation"] === workstation;
      if (isOwn && pathOf(memory.metadata)?.startsWith(root + sep)) known.push(memory);
    }
    after = page.at(-1);
    if (page.length < MAX_PAGE) return known;
  }
}

function pathOf(metadata: JsonObject): string | undefined {
  const file = metadata[FILE_KEY];
  const path = isPlainObject(file) ? file["path"] : undefined;
  return typeof path === "string" ? path : undefined;
}

function isCurrent(metadata: JsonObject, found: FoundFile, project: string | undefined): boolean {
  const { size, mtimeUs } = metadata[FILE_KEY] as JsonObject;
  const isSame = size === found.size && mtimeUs === found.mtimeUs;
  return isSame && (metadata["projectPath"] ?? undefined) === project;
}

async function readNote(
  { workstation }: IngestSetting,
  { path, size, mtimeUs }: FoundFile,
  { root }: NotePlace,
  folder: string,
  project: string | undefined,
): Promise<{ name: string; content: string; metadata: JsonObject }[]> {
  if (size > MAX_NOTE_BYTES) return [];
  let text: string;
  try {
    text = (await readFile(path, "utf8")).trim();
  } catch {
    // Deleted meanwhile: the next scan deletes its memory.
    return [];
  }
  const id = project === undefined ? folder : projectId(project);
  const rest = relative(join(root, folder), path).split(sep).join("/");
  const metadata = {
    workstation,
    project: folder,
    [FILE_KEY]: { path, size, mtimeUs },
    ...(project === undefined ? {} : { projectId: id, projectPath: project }),
  };
  return splitNote(text).map((content, i) => {
    const name = `${workstation}:${id}:${rest}${i === 0 ? "" : `#${i + 1}`}`;
    const isShort = Buffer.byteLength(name) <= MAX_NAME_BYTES;
    return { name: isShort ? name : `${workstation}:${shortHash(name)}`, content, metadata };
  });
}

/** Pieces of a memory's size, split between paragraphs or lines if possible. */
export function splitNote(text: string): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (Buffer.byteLength(rest) > MAX_MEMORY_BYTES) {
    // A UTF-16 unit takes at most three bytes.
    let end = Math.floor(MAX_MEMORY_BYTES / 3);
    const window = rest.slice(0, end);
    const cut = [window.lastIndexOf("\n\n"), window.lastIndexOf("\n"), window.lastIndexOf(" ")];
    end = cut.find((at) => at > end / 2) ?? end;
    pieces.push(rest.slice(0, end).toWellFormed());
    rest = rest.slice(end).trimStart();
  }
  if (rest !== "") pieces.push(rest);
  return pieces;
}

/** The head of a transcript that is searched for its folder. */
const HEAD_BYTES = 64 * 1024;

/**
 * The project's folder, from one of its transcripts: a folder's encoded name cannot be reversed.
 */
async function findProject(folder: string, name: string): Promise<string | undefined> {
  try {
    const files = (await readdir(folder)).filter((each) => each.endsWith(".jsonl")).sort();
    for (const file of files.slice(0, 5)) {
      const head = await readHead(join(folder, file));
      for (const [, json = '""'] of head.matchAll(/"cwd":("(?:[^"\\]|\\.)*")/g)) {
        const cwd = JSON.parse(json) as string;
        if (cwd.replace(/[^A-Za-z0-9]/g, "-") === name) return cwd;
      }
    }
  } catch {
    // Missing or unreadable: the folder's name stands for the project.
  }
  return undefined;
}

async function folderExists(folder: string): Promise<boolean> {
  try {
    await readdir(folder);
    return true;
  } catch {
    return false;
  }
}

async function deleteNote({ tenant }: IngestSetting, agent: string, name: string): Promise<void> {
  await ignoring("memory_not_found", () => tenant.deleteMemory(agent, name));
}

async function readHead(path: string): Promise<string> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}
