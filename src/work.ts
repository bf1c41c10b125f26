/** The public names of `backscroll/work`: what was done in sessions, and which of them did it. */

export {
  type Blame,
  type Blamed,
  type BlamedCommit,
  type BlamedLine,
  type BlamedSession,
  type BlameInput,
  blameWork,
} from "./blame/blame.ts";
export { type DigestInput, digestWork, type WorkDigest } from "./blame/digest.ts";
export type { FileUse, Review, SessionReview, ToolUse } from "./model/review.ts";
export {
  type Recap,
  type RecapCommand,
  type RecapFile,
  type RecapInput,
  type RecapLine,
  recapSessions,
  type SessionRecap,
} from "./recap/recap.ts";
export { type Related, type RelatedInput, relatedSessions } from "./recap/related.ts";
export { type ReviewInput, reviewSessions } from "./recap/review.ts";
export {
  type Trace,
  type TracedSession,
  type TraceInput,
  type TraceOptions,
  traceWork,
} from "./recap/trace.ts";
export type { Clearing, Finding } from "./recap/trace-session.ts";
