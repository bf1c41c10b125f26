/** The public names of `backscroll/ingest`. Other names may change without notice. */

export type { Oversize } from "../ingest/files/limit-lines.ts";
export type { WalkCounts } from "../ingest/files/walk.ts";
export { compositeKey, projectId, workstationId } from "../ingest/identity/identity.ts";
export type { Line } from "../ingest/lines.ts";
export type { ImportProblem, ImportProblemCode, ProblemLog } from "../ingest/problems.ts";
export { type ReadTranscriptInput, readTranscript } from "../ingest/read-transcript.ts";
export type {
  Environment,
  ImportedEntry,
  ImportedSession,
  ImportedTranscript,
  Place,
  TranscriptSource,
} from "../ingest/source.ts";
export type { IngestFigures } from "../model/session.ts";
export type { IngestedFile } from "../store/ingested-file.ts";
export type { Missing } from "./find-files.ts";
export { type IngestInput, type IngestReport, ingest } from "./ingest.ts";
export type { IngestOptions } from "./ingest-setting.ts";
export type { FileOutcome, How, SessionOutcome, SourceTotals, Totals } from "./outcome.ts";
export { type Exchange, parseSessionFile, type SessionMeta } from "./parse-session-file.ts";
export {
  type Retitled,
  type RetitleInput,
  type RetitleReport,
  retitleSessions,
} from "./retitle.ts";
export { type WatchInput, watchPlaces } from "./watch.ts";
