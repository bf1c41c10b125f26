/** Builds the session filter that several tools share from their input. */

import type { z } from "zod";
import { parseTime } from "../../api/text/time-input.ts";
import type { ListSessionsInput } from "../../engine/sessions/list-sessions.ts";
import { type PLACE, projectOf, type TIMES } from "./fields.ts";

type FilterInput = {
  readonly [Name in keyof typeof PLACE | keyof typeof TIMES | "agent"]?:
    | z.infer<z.ZodString>
    | undefined;
};

export type SessionFilter = Pick<
  ListSessionsInput,
  "agent" | "project" | "repo" | "workstation" | "since" | "until"
>;

/** Relative times count from `now`. */
export function sessionFilter(input: FilterInput, now: number): SessionFilter {
  const { agent, repo, workstation_id: workstation, since, until } = input;
  const project = projectOf(input);
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(project === undefined ? {} : { project }),
    ...(repo === undefined ? {} : { repo }),
    ...(workstation === undefined ? {} : { workstation }),
    ...(since === undefined ? {} : { since: parseTime(since, "since", "since", now) }),
    ...(until === undefined ? {} : { until: parseTime(until, "until", "until", now) }),
  };
}
