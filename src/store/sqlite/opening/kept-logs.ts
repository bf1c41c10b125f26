/**
 * Copies of damaged write-ahead logs: `x.db-wal.kept-…`, beside the store.
 *
 * The file names are the record of losses: they hold the reported figures, and an acknowledgement
 * adds `.accepted` to the name and keeps the bytes.
 */

import { promises, readdirSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { StoreLoss } from "../../../model/store-loss.ts";
import type { LogLoss } from "./log-scan.ts";
import { haveSameEnd } from "./same-end.ts";

interface KeptLog extends LogLoss {
  readonly file: string;
  readonly foundAt: number;
  readonly isAccepted: boolean;
}

const NAME = /^-(\d{8}T\d{6}Z)-([0-9a-f]{16})-frame-(\d+)-commits-(\d+)(\.accepted)?$/;

/** Unacknowledged losses, oldest first. */
export function listKeptLosses(store: string): StoreLoss[] {
  return listUnaccepted(store).map(({ file, foundAt, commits }) => {
    return { kind: "log", foundAt, commits, kept: file };
  });
}

/** Gives the acknowledged losses. */
export function acceptKeptLosses(store: string): StoreLoss[] {
  const accepted = listKeptLosses(store);
  for (const { file, isAccepted } of listKept(store)) {
    if (!isAccepted) renameSync(file, `${file}.accepted`);
  }
  return accepted;
}

/** Whether a kept log already has all of this loss. */
export async function isKept(store: string, loss: LogLoss): Promise<boolean> {
  const ofLog = listKept(store).filter(({ salts }) => salts === loss.salts);
  if (ofLog.some((kept) => isOf(kept, loss) && kept.commits >= loss.commits)) return true;
  for (const { file } of ofLog) {
    // While another process reads the log, SQLite does not restart it: new commits overwrite frames
    // after the last commit before the damage, and later frames stay. So the break may move to either
    // side; the kept copy has the commits after it.
    if (await haveSameEnd(file, `${store}-wal`, loss.frame)) return true;
  }
  return false;
}

/**
 * Copies the log, and returns once the copy is synced. An earlier copy of the same loss with less
 * in it, made while another process still wrote, is replaced.
 */
export async function keepLog(store: string, loss: LogLoss, now: number): Promise<void> {
  const { salts, frame, commits } = loss;
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  const target = `${prefixOf(store)}-${time}-${salts}-frame-${frame}-commits-${commits}`;
  const partial = `${target}.partial-${process.pid}`;
  const smaller = listKept(store).filter((kept) => !kept.isAccepted && isOf(kept, loss));
  try {
    await promises.copyFile(`${store}-wal`, partial);
    await sync(partial, "r+");
    await promises.rename(partial, target);
    await sync(dirname(store), "r");
  } catch (error) {
    await promises.rm(partial, { force: true });
    throw error;
  }
  for (const { file } of smaller) if (file !== target) await promises.rm(file, { force: true });
}

/** Unacknowledged copies; where two processes found one loss at once, the larger copy. */
function listUnaccepted(store: string): KeptLog[] {
  const kept = listKept(store);
  const byCommits = kept.toSorted((a, b) => b.commits - a.commits);
  return kept.filter((log) => !log.isAccepted && byCommits.find((each) => isOf(each, log)) === log);
}

function listKept(store: string): KeptLog[] {
  const folder = dirname(store);
  const prefix = basename(prefixOf(store));
  const names = listNames(folder).filter((name) => name.startsWith(prefix));
  return names.sort().flatMap((name) => {
    const [, time, salts, frame, commits, accepted] = NAME.exec(name.slice(prefix.length)) ?? [];
    if (time === undefined || salts === undefined) return [];
    return {
      file: join(folder, name),
      foundAt: toTime(time),
      salts,
      frame: Number(frame),
      commits: Number(commits),
      isAccepted: accepted !== undefined,
    };
  });
}

/** Empty if the folder may not be listed. */
function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EACCES") return [];
    throw error;
  }
}

function prefixOf(store: string): string {
  return `${store}-wal.kept`;
}

function isOf(kept: KeptLog, loss: LogLoss): boolean {
  return kept.salts === loss.salts && kept.frame === loss.frame;
}

function toTime(name: string): number {
  const [, date, hour, minute, second] = /^(\d{8})T(\d\d)(\d\d)(\d\d)Z$/.exec(name) ?? [];
  const day = date?.replace(/^(\d{4})(\d\d)(\d\d)$/, "$1-$2-$3");
  return Date.parse(`${day}T${hour}:${minute}:${second}Z`);
}

async function sync(path: string, flags: "r" | "r+"): Promise<void> {
  const file = await promises.open(path, flags);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
