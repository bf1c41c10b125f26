/**
 * Operations whose rules are the same on both databases, written once.
 *
 * A program is a generator. Its reads are answered at once by SQLite, and after a round trip by
 * PostgreSQL; its writes have no answer, so PostgreSQL sends them with the next read or with COMMIT.
 * Each database has its own text for every statement that a program names, whose first parameter is
 * the tenant.
 */

import type { TenantDelta } from "../plan/new-changes.ts";
import type { NewChange } from "../plan/plan-append.ts";
import type { NewSession, Row } from "../records.ts";

export type Program<Result> = Generator<unknown, Result, unknown>;

/** A list of texts is one parameter. */
export type Value = null | number | string | Uint8Array | readonly string[];

/** A statement by its name, with the parameters after the tenant. */
export type Call<Name> = readonly [name: Name, ...values: readonly Value[]];

type Rows = readonly Row[];

/** A database in a transaction of one tenant. `Name` are the statements that it knows. */
export interface ProgramPort<Name extends string> {
  /** The tenant's name. */
  readonly tenant: string;
  /** Creates the tenant before the first write that may be its first. */
  readonly ensureTenant: (now: number) => Program<void>;
  readonly rows: (...call: Call<Name>) => Program<Rows>;
  /** Several statements in one round trip. */
  readonly together: (...calls: readonly Call<Name>[]) => Program<readonly Rows[]>;
  /** The rows at several places, in their order: the parameters of each place follow `values`. */
  readonly rowsAt: (
    name: Name,
    places: readonly (readonly Value[])[],
    ...before: readonly Call<Name>[]
  ) => Program<Rows>;
  /** The rows of a session's statement, whose second parameter it is. Throws `session_not_found`. */
  readonly rowsOfSession: (
    sessionId: string,
    name: Name,
    ...values: readonly Value[]
  ) => Program<Rows>;
  readonly run: (...call: Call<Name>) => void;
  /** Inserts or deletes several rows: their own parameters follow the common ones. */
  readonly runEach: (
    name: Name,
    common: readonly Value[],
    rows: readonly (readonly Value[])[],
  ) => void;
  /** The last statement of a write. */
  readonly last: (...call: Call<Name>) => Program<Rows>;
  readonly writeFeed: (changes: readonly NewChange[], delta?: TenantDelta) => void;
  /** The session's number, under its lock. Throws `session_not_found`. */
  readonly lockSession: (sessionId: string) => Program<number>;
  /** The session's number. Throws `session_not_found`. */
  readonly sessionNumber: (sessionId: string) => Program<number>;
  /** Creates a session; gives the changes that are still to be written, with one session counted. */
  readonly createSession: (session: NewSession) => Program<readonly NewChange[]>;
}

/** Programs by the names of their operations. */
export type Programs<Name extends string> = Readonly<
  Record<string, (port: ProgramPort<Name>, ...args: never) => Program<unknown>>
>;

/** The step of a program that needs one answer. */
export function* answer<Result>(given: Result | Promise<Result>): Program<Result> {
  return (yield given) as Result;
}

/** A program that the database answers at once. */
export function runNow<Result>(program: Program<Result>): Result {
  let step = program.next();
  while (step.done !== true) step = program.next(step.value);
  return step.value;
}

/** A program that waits for each answer. */
export async function runAwaited<Result>(program: Program<Result>): Promise<Result> {
  let step = program.next();
  while (step.done !== true) step = program.next(await step.value);
  return step.value;
}
