/**
 * The public names of `backscroll/store-kit`: the port of a backend, and the plans that this
 * package's backends share. `backscroll/store-kit/cases` has the conformance suite.
 *
 * A backend implements `Store` and passes `storeCases`; `engineOn` then opens an engine on it.
 */

import { Engine, type EngineOptions } from "../engine/engine.ts";
import { checkFields } from "../model/input.ts";
import { INPUTS } from "../model/inputs/index.ts";
import type { Store } from "../store/store.ts";

export type { EngineOptions } from "../engine/engine.ts";
export { openStore } from "../open.ts";
export { type Migration, pendingMigrations, type SchemaState } from "../store/migration.ts";
export {
  type AppendPlan,
  type NewChange,
  planAppend,
  type SessionState,
} from "../store/plan/plan-append.ts";
export { type ErasePlan, planErase } from "../store/plan/plan-erase.ts";
export { type CopiedEntries, copyEntries } from "../store/plan/plan-fork.ts";
export { planPatchRoute, planPutRoute } from "../store/plan/plan-route.ts";
export { abortedEntry, committedEntry, pendingChunks } from "../store/plan/plan-stream.ts";
export type * from "../store/records.ts";
export type { EntryRow } from "../store/rows/entry-row.ts";
export { SESSION_COLUMNS, toSession } from "../store/rows/session-row.ts";
export {
  changedValues,
  insertSessionSql,
  newSessionValues,
  updateSessionSql,
} from "../store/rows/session-values.ts";
export type { Store, StoreOptions } from "../store/store.ts";

/** An engine on any store. Closing the engine closes the store. */
export function engineOn(store: Store, options: EngineOptions = {}): Engine {
  return new Engine(store, checkFields(options, "options", INPUTS.engineOn));
}
