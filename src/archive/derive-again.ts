/**
 * Derives sessions again from the kept original bytes after a reader has changed. The files
 * themselves may be gone.
 *
 * A session keeps its id and its entries' ids. A session that was written to here is not replaced:
 * new entries are added, on a branch if they do not follow the newest message.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ImportOptions } from "../engine/import/import-subject.ts";
import { filesOf } from "../engine/import/session-files.ts";
import type { TenantApi } from "../engine/interfaces.ts";
import { TranscriptFile } from "../ingest/files/open-file.ts";
import type { TranscriptSource } from "../ingest/source.ts";
import { defined } from "../model/defined.ts";
import { BackscrollError } from "../model/errors.ts";
import { MAX_PAGE } from "../model/limits.ts";
import type { Original } from "../store/ingested-file.ts";
import { ingestFile } from "./ingest-file.ts";
import { createSetting, type IngestOptions, type IngestSetting } from "./ingest-setting.ts";
import { isPart, writeCopy } from "./originals.ts";
import { type FileOutcome, outcomeOf } from "./outcome.ts";
import type { Rereading } from "./store-session.ts";

export interface DeriveInput extends Pick<IngestOptions, "environment" | "sources" | "oversize"> {
  /** Includes sessions that the current reader derived. */
  readonly force?: boolean;
  readonly onOutcome?: (outcome: FileOutcome) => void;
  readonly signal?: AbortSignal;
}

export interface DeriveReport {
  /** Kept originals. */
  readonly originals: number;
  /** Originals read again. */
  readonly read: number;
  /** Originals whose bytes or format cannot be read here. */
  readonly failed: number;
  /** Sessions derived again. */
  readonly sessions: number;
  /** Sessions that were written to here, and therefore not replaced. */
  readonly extended: number;
}

export async function deriveAgain(tenant: TenantApi, input: DeriveInput): Promise<DeriveReport> {
  const { environment, sources, oversize, force = false } = input;
  const setting = await createSetting(tenant, {
    originals: true,
    ...defined({ environment, sources, oversize }),
  });
  const report = { originals: 0, read: 0, failed: 0, sessions: 0, extended: 0 };
  const done = new Set<string>();
  const all = await listAll(tenant);
  const parts = all.filter(isPart);
  for (const original of all) {
    if (input.signal?.aborted) break;
    if (isPart(original)) continue;
    report.originals++;
    if (done.has(keyOf(original))) continue;
    const source = setting.sources.find(({ name }) => name === original.source);
    if (source !== undefined && !force && original.reader >= (source.version ?? 1)) continue;
    const group = await sameSessions(tenant, original);
    const sessionIds = new Set(group.flatMap((file) => file.sessionIds));
    const beside = parts.filter((part) => part.sessionIds.some((id) => sessionIds.has(id)));
    const derived = new Set<string>();
    const extended = new Set<string>();
    let whenLate: ImportOptions["whenLate"] = "anew";
    for (const file of group) {
      done.add(keyOf(file));
      const again: Rereading = { sessionId: file.sessionIds[0] ?? null, whenLate };
      let outcome = await deriveFile(setting, source, [file, ...beside], again);
      const isTouched = again.result?.late !== undefined && whenLate === "anew";
      if (isTouched) {
        whenLate = "aside";
        outcome = await deriveFile(setting, source, [file, ...beside], { ...again, whenLate });
      } else if (whenLate === "anew") whenLate = undefined;
      const isRead = outcome.how === "read" || outcome.how === "continued";
      if (isRead) report.read++;
      // A rule made since then: what was stored before it stays.
      else if (outcome.how !== "ignored") report.failed++;
      for (const { sessionId } of outcome.sessions) {
        if (sessionId !== null) (isTouched ? extended : derived).add(sessionId);
      }
      input.onOutcome?.(outcome);
    }
    report.sessions += derived.size;
    report.extended += extended.size;
  }
  return report;
}

function keyOf({ workstation, path }: Original): string {
  return `${workstation}\0${path}`;
}

async function listAll(tenant: TenantApi): Promise<readonly Original[]> {
  const all: Original[] = [];
  for (;;) {
    const last = all.at(-1);
    const page = await tenant.originals.list({
      ...(last === undefined ? {} : { after: last }),
      limit: MAX_PAGE,
    });
    all.push(...page);
    if (page.length < MAX_PAGE) return all;
  }
}

/** The files of the original's sessions, in order of their starts. */
async function sameSessions(tenant: TenantApi, original: Original): Promise<readonly Original[]> {
  const files = new Map([[keyOf(original), original]]);
  const begun = new Map<string, number>();
  for (const sessionId of original.sessionIds) {
    for (const { path, startedAt } of filesOf(await tenant.getSessionMeta(sessionId))) {
      begun.set(path, startedAt);
    }
    for (const other of await tenant.originals.list({ sessionId, limit: MAX_PAGE })) {
      if (!isPart(other)) files.set(keyOf(other), other);
    }
  }
  const at = ({ path }: Original) => begun.get(path) ?? 0;
  return [...files.values()].toSorted((a, b) => at(a) - at(b));
}

/** Derives a transcript, with its kept companions. */
async function deriveFile(
  setting: IngestSetting,
  source: TranscriptSource | undefined,
  [original, ...beside]: readonly [Original, ...Original[]],
  again: Rereading,
): Promise<FileOutcome> {
  const { path, size, mtimeUs, workstation } = original;
  if (source === undefined) {
    return { ...outcomeOf(path, "unrecognised"), message: `no reader of ${original.source}` };
  }
  const root = await mkdtemp(join(tmpdir(), "backscroll-original-"));
  try {
    const copy = await writeCopy(setting.tenant, original, root);
    for (const part of beside) await writeCopy(setting.tenant, part, root);
    const kept = await TranscriptFile.open(copy, { as: { path, mtimeUs } });
    const file = { path, root: dirname(path), size, mtimeUs, allocated: size };
    const { outcome, record } = await ingestFile(
      { ...setting, workstation, only: source },
      {
        candidate: { file, hint: source, named: true },
        known: undefined,
        plan: "whole",
        again,
        onSession: () => undefined,
        original: { file: kept, copy, root },
      },
    );
    if (record !== undefined) await setting.tenant.putIngestedFiles(workstation, [record]);
    return outcome;
  } catch (error) {
    if (!BackscrollError.is(error, "store_corrupt")) throw error;
    return { ...outcomeOf(path, "unreadable"), message: error.message };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
