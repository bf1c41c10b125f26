/**
 * `parseSessionFile` reads a transcript without a store; `indexFile` and `indexAll` are aliases of
 * `ingest`.
 */

import type { TenantApi } from "../engine/interfaces.ts";
import { accessAround } from "../ingest/files/file-access.ts";
import { limitLines, withholdPartialLine } from "../ingest/files/limit-lines.ts";
import { TranscriptFile } from "../ingest/files/open-file.ts";
import { idFromFile } from "../ingest/identity/identity.ts";
import { splitLines } from "../ingest/lines.ts";
import { type ImportProblem, ProblemLog } from "../ingest/problems.ts";
import type { ImportedEntry } from "../ingest/source.ts";
import { recogniseSource, recogniseStart } from "../ingest/sources.ts";
import { textOf } from "../model/block.ts";
import { BackscrollError } from "../model/errors.ts";
import { describe } from "../model/json.ts";
import { type IngestInput, type IngestReport, ingest } from "./ingest.ts";
import { SessionFigures } from "./session-figures.ts";

/** A request, with all answers up to the next. */
export interface Exchange {
  readonly user: string;
  readonly assistant: string;
}

export interface SessionMeta {
  readonly sessionId: string;
  readonly projectPath: string;
  readonly gitBranch: string;
  readonly firstMsgAt: number | null;
  readonly lastMsgAt: number | null;
  readonly exchanges: readonly Exchange[];
  readonly toolCounts: Readonly<Record<string, number>>;
  readonly exchangeCount: number;
  readonly problems: readonly ImportProblem[];
}

/** Reads the first session of a file into memory without storing it. Throws `unknown_format`. */
export async function parseSessionFile(path: string): Promise<SessionMeta> {
  const file = await TranscriptFile.open(path);
  try {
    return await parseOpened(file, path);
  } finally {
    await file.close();
  }
}

async function parseOpened(file: TranscriptFile, path: string): Promise<SessionMeta> {
  const own = new ProblemLog();
  const source = await recogniseStart(
    await file.head(own),
    () => file.read(new ProblemLog()),
    (head) => recogniseSource(head, path),
  );
  if (source === undefined && file.size > 0) {
    throw new BackscrollError("unknown_format", `${path} is not a transcript of a known format`, {
      details: { file: path },
    });
  }
  const through = { offset: 0, lines: 0, isOpen: false };
  const last = { end: file.size, isText: source?.isText?.(path) ?? false };
  const bytes = file.repeatable(own);
  const whole = withholdPartialLine(splitLines(bytes), last, through, own);
  const transcript = source?.read({
    path,
    lines: limitLines(whole, "cut", own),
    bytes,
    isRepeatable: true,
    files: accessAround(path, path),
  });
  const figures = new SessionFigures();
  const exchanges: { user: string; assistant: string }[] = [];
  let meta = { sessionId: idFromFile(path), projectPath: "", gitBranch: "" };
  for await (const session of transcript?.sessions ?? []) {
    const { id, cwd, gitBranch } = session;
    meta = { sessionId: id ?? meta.sessionId, projectPath: cwd ?? "", gitBranch: gitBranch ?? "" };
    for await (const entry of figures.watch(session.entries)) addTo(exchanges, entry, figures);
    break;
  }
  const { exchangeCount, toolCounts, firstMessageAt, lastMessageAt } = figures.counted();
  return {
    ...meta,
    exchanges,
    toolCounts,
    exchangeCount,
    firstMsgAt: firstMessageAt,
    lastMsgAt: lastMessageAt,
    problems: [...own.first, ...(transcript?.problems.first ?? [])],
  };
}

/** As `ingest` of one file. */
export async function indexFile(
  tenant: TenantApi,
  path: string,
  input: Omit<IngestInput, "paths"> = {},
): Promise<IngestReport> {
  if (typeof path !== "string") {
    throw new BackscrollError("invalid_input", `path must be a string, not ${describe(path)}`, {
      details: { field: "path" },
    });
  }
  return ingest(tenant, { ...input, paths: [path] });
}

/** As `ingest` of all transcripts on this machine. */
export function indexAll(tenant: TenantApi, input: IngestInput = {}): Promise<IngestReport> {
  return ingest(tenant, input);
}

/** A new exchange begins where their count grows; entries before the first belong to none. */
function addTo(
  exchanges: { user: string; assistant: string }[],
  entry: ImportedEntry,
  figures: SessionFigures,
): void {
  const text = textOf(entry.blocks);
  if (entry.kind !== "message") return;
  if (figures.counted().exchangeCount > exchanges.length) {
    exchanges.push({ user: text, assistant: "" });
    return;
  }
  const last = exchanges.at(-1);
  if (last === undefined || entry.role !== "assistant" || text === "") return;
  last.assistant += last.assistant === "" ? text : `\n${text}`;
}
