/** The public names of `backscroll/assistant-ui`. */

export type {
  FormattedHistory,
  History,
  HistoryItem,
  MessageFormat,
  ThreadHistory,
  ThreadItem,
} from "./thread-history.ts";
export { type ThreadHistoryOptions, threadHistory } from "./thread-history.ts";
