/**
 * Input fields that several tools share, with their limits, and the session filter that they make.
 */

import { z } from "zod";
import { QUERY_HELP } from "../../api/text/session-heading.ts";
import { parseTime, TIME_FORMS } from "../../api/text/times.ts";
import type { ListSessionsInput } from "../../engine/sessions/list-sessions.ts";
import { defined } from "../../model/defined.ts";
import { BackscrollError } from "../../model/errors.ts";
import { MAX_HITS, MAX_ID_LENGTH, MAX_NAME_BYTES, MAX_QUERY_BYTES } from "../../model/limits.ts";

export const SESSION_ID: z.ZodString = z
  .string()
  .min(1)
  .max(MAX_ID_LENGTH)
  .describe("A session's short id, such as k3f9, or its id.");

/** A ULID for examples. */
export const EXAMPLE_ID = "01JABCDEFGHJKMNPQRSTVWXYZ0";

export const QUERY: z.ZodString = z.string().min(1).max(MAX_QUERY_BYTES).describe(QUERY_HELP);

export function name(description: string): z.ZodString {
  return z.string().min(1).max(MAX_NAME_BYTES).describe(description);
}

export function id(description: string): z.ZodString {
  return z.string().min(1).max(MAX_ID_LENGTH).describe(description);
}

export function hits(
  preset: number,
  description: string,
  most: number = MAX_HITS,
): z.ZodDefault<z.ZodNumber> {
  return z.number().int().min(1).max(most).default(preset).describe(description);
}

/** In every answer. */
export const TRUNCATED: z.ZodNullable<z.ZodString> = z
  .string()
  .nullable()
  .describe("A note on parts that were left out or cut to keep the answer small; null if none.");

/** In every answer that quotes stored text. */
export const ABOUT: z.ZodString = z.string();

type OptionalText = z.ZodOptional<z.ZodString>;

/** The project of sessions. `project_id` is the older name of `project`. */
export const PLACE: Record<"project" | "project_id" | "repo" | "workstation_id", OptionalText> = {
  project: name("Only this project: its folder, the end of its path, or its id.").optional(),
  project_id: name("The same as project.").optional(),
  repo: name("Only clones and worktrees of this repository, such as acme/shop.").optional(),
  workstation_id: name("Only sessions of this machine.").optional(),
};

function projectOf(input: {
  readonly project?: string | undefined;
  readonly project_id?: string | undefined;
}): string | undefined {
  const { project, project_id } = input;
  if (project !== undefined && project_id !== undefined && project !== project_id) {
    throw new BackscrollError(
      "invalid_input",
      "project and project_id differ; give project alone",
      {
        details: { field: "project_id" },
      },
    );
  }
  return project ?? project_id;
}

/** Lists omit them: the session that started them shows their results. */
export const SUB_AGENTS: z.ZodOptional<z.ZodBoolean> = z
  .boolean()
  .optional()
  .describe("Also sessions of sub-agents.");

/** Days in the server's time zone, both ends inclusive. */
export const TIMES: Record<"since" | "until", OptionalText> = {
  since: name(`From then on: ${TIME_FORMS}.`).optional(),
  until: name("Up to then; a day counts whole.").optional(),
};

type FilterInput = {
  readonly [Name in keyof typeof PLACE | keyof typeof TIMES | "agent"]?:
    | z.infer<z.ZodString>
    | undefined;
};

type SessionFilter = Pick<
  ListSessionsInput,
  "agent" | "project" | "repo" | "workstation" | "since" | "until"
>;

/** Relative times count from `now`. */
export function sessionFilter(input: FilterInput, now: number): SessionFilter {
  const { agent, repo, workstation_id: workstation, since, until } = input;
  const project = projectOf(input);
  return {
    ...defined({ agent, project, repo, workstation }),
    ...(since === undefined ? {} : { since: parseTime(since, "since", "since", now) }),
    ...(until === undefined ? {} : { until: parseTime(until, "until", "until", now) }),
  };
}
