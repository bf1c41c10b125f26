/**
 * The Agent Trajectory Interchange Format of the Harbor project: one JSON object with the steps of
 * a run, of any agent. Sub-agents are nested trajectories.
 */

import type { Block } from "../../model/block.ts";
import type { Usage } from "../../model/entry.ts";
import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { readDocument } from "../document/json-document.ts";
import {
  type EntryDraft,
  KnownIds,
  toContentBlocks,
  toImportedEntry,
  toImportedSession,
  toTranscript,
} from "../drafts.ts";
import {
  costField,
  countField,
  type Fields,
  nameOf,
  objectField,
  objectsIn,
  otherFields,
  resultBlock,
  textField,
  timeField,
  toPromptUsage,
} from "../fields.ts";
import { textOfHead } from "../head.ts";
import { fileName } from "../machine-paths.ts";
import { ProblemLog } from "../problems.ts";
import type { ImportedEntry, ImportedSession, TranscriptSource } from "../source.ts";

const FORMAT = "atif";

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

/** The key of `extra` for fields that only our own exports write. */
const OWN = "backscroll";

/** Undefined if it is not a step. `model` is the trajectory's. */
function toDrafts(
  step: Fields,
  sourceId: string,
  model: string | null,
  agent: string,
): EntryDraft[] | undefined {
  const { source } = step;
  const said = toBlocks(step["message"]);
  const createdAt = timeField(step, "timestamp");
  const base = { sourceId, createdAt, fields: stepFields(step, createdAt) };
  const results = toResults(step, sourceId, createdAt);
  if (source === "agent") return [toAnswer(step, base, said, model, agent), ...results];
  if (source === "user") return [{ ...base, kind: "message", role: "user", blocks: said }];
  if (source !== "system") return undefined;
  if (ownExtra(step)["kind"] === "compaction") {
    const data = { firstKeptEntryId: null, tokensBefore: null };
    return [{ ...base, kind: "compaction", blocks: said, data }];
  }
  const marks = { injected: true };
  return [{ ...base, kind: "message", role: "system", blocks: said, marks }, ...results];
}

const KNOWN = [
  "step_id",
  "source",
  "message",
  "reasoning_content",
  "tool_calls",
  "observation",
  "model_name",
  "timestamp",
  "metrics",
];

/**
 * Fields without a place here, kept for export, including times that we would format differently.
 */
function stepFields(step: Fields, createdAt: number | null): JsonObject {
  const { timestamp, message, metrics } = step;
  const isOwnTime = createdAt !== null && timestamp === new Date(createdAt).toISOString();
  const others = isPlainObject(metrics) ? otherFields(metrics, COUNTS) : {};
  const extra = isPlainObject(others["extra"]) ? otherFields(others["extra"], [CREATION]) : {};
  const kept = { ...others, extra };
  if (Object.keys(extra).length === 0) Reflect.deleteProperty(kept, "extra");
  return {
    ...otherFields(step, KNOWN),
    ...(timestamp === undefined || isOwnTime ? {} : { timestamp: timestamp as string }),
    ...(Array.isArray(message) ? { parts: true } : {}),
    ...(Object.keys(kept).length === 0 ? {} : { metrics: kept }),
  };
}

const CREATION = "cache_creation_input_tokens";
const COUNTS = ["prompt_tokens", "completion_tokens", "cached_tokens"];

function toAnswer(
  step: Fields,
  base: Pick<EntryDraft, "sourceId" | "fields"> & { readonly createdAt: number | null },
  said: readonly Block[],
  model: string | null,
  agent: string,
): EntryDraft {
  const thought = textField(step, "reasoning_content");
  const thinking: Block[] = thought === undefined ? [] : [{ type: "thinking", text: thought }];
  const calls = objectsIn(step["tool_calls"]).map((call): Block => {
    const { arguments: input } = call;
    const text = typeof input === "string" ? input : JSON.stringify(input ?? {});
    const id = textField(call, "tool_call_id") ?? "";
    return { type: "tool_use", id, name: nameOf(call["function_name"] ?? ""), input: text ?? "{}" };
  });
  const metrics = objectField(step, "metrics");
  const own = textField(step, "model_name");
  const named = own === undefined ? {} : { model_name: own };
  return {
    ...base,
    kind: "message",
    role: "assistant",
    actor: agent,
    blocks: [...thinking, ...said, ...calls],
    usage: toUsage(metrics),
    model: own ?? model,
    fields: { ...base.fields, ...named },
    ...costField(metrics, "cost_usd"),
  };
}

/** `prompt_tokens` includes cache reads and writes. */
function toUsage(metrics: Fields): Usage | null {
  const input = countField(metrics, "prompt_tokens");
  const output = countField(metrics, "completion_tokens");
  if (input === undefined && output === undefined) return null;
  const extra = objectField(metrics, "extra");
  const read = countField(metrics, "cached_tokens") ?? 0;
  return toPromptUsage(input ?? 0, output ?? 0, read, countField(extra, CREATION) ?? 0);
}

function toResults(step: Fields, sourceId: string, createdAt: number | null): EntryDraft[] {
  const observation = objectField(step, "observation");
  const results = objectsIn(observation["results"]);
  if (results.length === 0) return [];
  const calls = objectsIn(step["tool_calls"]);
  const errors = ownExtra(step)["errors"];
  const failed: readonly unknown[] = Array.isArray(errors) ? errors : [];
  const blocks = results.map((result): Block => {
    const toolUseId = textField(result, "source_call_id") ?? "";
    const call = calls.find((each) => each["tool_call_id"] === toolUseId);
    const toolName = call === undefined ? undefined : nameOf(call["function_name"] ?? "");
    const { content } = result;
    const extra = objectField(result, "extra");
    const isError = failed.includes(toolUseId) || extra["is_error"] === true;
    const output = typeof content === "string" ? content : toBlocks(content);
    const more = otherFields(result, ["source_call_id", "content"]);
    return resultBlock(toolUseId, toolName, output, isError, more);
  });
  const named = blocks.find(
    (block) => block.type === "tool_result" && block.toolName !== undefined,
  );
  const actor = named?.type === "tool_result" ? (named.toolName ?? null) : null;
  const id = { sourceId: `${sourceId}/results`, id: null };
  const at = timeField(ownExtra(step), "observed_at") ?? createdAt;
  return [{ ...id, kind: "message", role: "tool", actor, blocks, createdAt: at }];
}

function ownExtra(of: Fields): Fields {
  const extra = objectField(of, "extra");
  return isPlainObject(extra[OWN]) ? extra[OWN] : {};
}

/** Text, or since version 1.6 a list of texts and images. */
function toBlocks(message: unknown): Block[] {
  return toContentBlocks(FORMAT, message, (part) => {
    const source = objectField(part, "source");
    const [url, mediaType] = [textField(source, "path"), textField(source, "media_type")];
    if (url === undefined || mediaType === undefined) return undefined;
    return { type: "image", mediaType, url };
  });
}
