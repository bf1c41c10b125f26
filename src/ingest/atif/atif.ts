/**
 * The Agent Trajectory Interchange Format of the Harbor project: one JSON object with the steps of
 * a run, of any agent. Sub-agents are nested trajectories.
 */

import { isPlainObject } from "../../model/json.ts";
import { readDocument } from "../document/json-document.ts";
import { KnownIds, toImportedEntry, toImportedSession, toTranscript } from "../drafts.ts";
import { type Fields, nameOf, objectField, otherFields, textField, timeField } from "../fields.ts";
import { textOfHead } from "../head.ts";
import { fileName } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession, TranscriptSource } from "../source.ts";
import { FORMAT, ownExtra, toDrafts } from "./atif-step.ts";

export const ATIF: TranscriptSource = {
  name: FORMAT,

  recognise(head) {
    const text = textOfHead(head);
    return /^\s*\{/.test(text) && /"schema_version"\s*:\s*"ATIF-v/.test(text);
  },

  isText: () => true,

  read: (input) =>
    toTranscript(async function* (problems) {
      const document = await readDocument(input, "steps", problems);
      if (document === undefined) return;
      const { frame } = document;
      if (!isPlainObject(frame) || !Array.isArray(frame["steps"])) {
        problems.add("unexpected", "the file is JSON, but not a trajectory with steps");
        return;
      }
      // Damaged steps are reported when they are read.
      const first = await firstOf(document.elements(new ProblemLog()));
      const stem = fileName(input.path).replace(/\.json$/, "");
      const id = idOf(frame) ?? (stem === "" ? null : stem);
      yield toSession(frame, { id, parent: null, first }, document.elements(problems), problems);
      const children = frame["subagent_trajectories"];
      let number = 0;
      for (const child of Array.isArray(children) ? children : []) {
        number++;
        const steps = isPlainObject(child) ? child["steps"] : undefined;
        if (!isPlainObject(child) || !Array.isArray(steps)) {
          problems.add("unexpected", `sub-agent ${number} is not a trajectory, and was left out`);
          continue;
        }
        // A sub-agent may share the session's id; its own is the trajectory's.
        const own = textField(child, "trajectory_id") ?? textField(child, "session_id");
        const name = own === undefined || own === id ? `agent-${number}` : own;
        const place = { id: `${id ?? ""}/${name}`, parent: id, first: steps[0] as unknown };
        yield toSession(child, place, toAsync(steps), problems);
      }
    }),
};

interface TrajectoryPlace {
  readonly id: string | null;
  readonly parent: string | null;
  readonly first: unknown;
}

function idOf(frame: Fields): string | undefined {
  return textField(frame, "session_id") ?? textField(frame, "trajectory_id");
}

function toSession(
  frame: Fields,
  { id, parent, first }: TrajectoryPlace,
  steps: AsyncIterable<unknown>,
  problems: ProblemLog,
): ImportedSession {
  const agent = objectField(frame, "agent");
  const name = textField(agent, "name")?.trim() || FORMAT;
  const model = textField(agent, "model_name") ?? null;
  const own = ownExtra(frame);
  const known = ["session_id", "steps", "subagent_trajectories"];
  return {
    ...toImportedSession(FORMAT, {
      id,
      agent: name,
      parentSession: parent,
      title: textField(own, "title") || null,
      cwd: textField(own, "cwd") || null,
      startedAt: isPlainObject(first) ? timeField(first, "timestamp") : null,
      fields: otherFields(frame, known),
    }),
    entries: readSteps(steps, model, name, problems),
    problems,
  };
}

async function* readSteps(
  steps: AsyncIterable<unknown>,
  model: string | null,
  agent: string,
  problems: ProblemLog,
): AsyncGenerator<ImportedEntry> {
  const ids = new KnownIds(problems);
  let number = 0;
  for await (const step of steps) {
    number++;
    if (step === undefined) continue;
    const sourceId = `step-${isPlainObject(step) ? nameOf(step["step_id"] ?? number) : number}`;
    const drafts = isPlainObject(step) ? toDrafts(step, sourceId, model, agent) : undefined;
    if (drafts === undefined) {
      problems.add("unexpected", `step ${number} has no known source, and was left out`);
      continue;
    }
    for (const draft of drafts) {
      if (ids.isNew(draft.sourceId, draft)) yield toImportedEntry(FORMAT, draft);
    }
  }
}

async function firstOf(steps: AsyncIterable<unknown>): Promise<unknown> {
  for await (const step of steps) return step;
  return undefined;
}

async function* toAsync(steps: readonly unknown[]): AsyncGenerator<unknown> {
  yield* steps;
}
