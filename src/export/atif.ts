/**
 * A session as a trajectory in the Agent Trajectory Interchange Format. Version 1.4 suffices for
 * our own sessions; a trajectory that was read keeps its version.
 *
 * Tool results belong to their calls' step, so a step is held until another entry follows.
 */

import { type Block, inputTextOf, type ToolResultBlock } from "../model/block.ts";
import type { Entry } from "../model/entry.ts";
import { isPlainObject, type JsonObject, type JsonValue } from "../model/json.ts";
import { parseExact } from "../transcript/exact-json.ts";
import { hasOwnMetadata, sourceFieldsOf } from "../transcript/source-fields.ts";
import { givenTitle } from "../transcript/title/title-text.ts";
import type { ExportFormat } from "./format.ts";
import { countKind, type LossLog } from "./format.ts";

const FORMAT = "atif";

const VERSION = "ATIF-v1.4";

/** The key of `extra` for fields that the format lacks. */
const OWN = "backscroll";

export const ATIF: ExportFormat = {
  name: FORMAT,
  selects: "path",
  compacts: false,

  async *write({ session, entries }, losses) {
    const source = sourceFieldsOf(session, FORMAT);
    const { schema_version, agent, final_metrics, ...others } = source?.fields ?? {};
    const known = isPlainObject(agent) ? agent : {};
    const title = givenTitle(session);
    const { projectPath } = session.origin;
    const own: JsonObject = {
      ...(title === "" ? {} : { title }),
      ...(projectPath === undefined ? {} : { cwd: projectPath }),
    };
    const head: Record<string, unknown> = {
      schema_version: schema_version ?? VERSION,
      session_id: source?.id ?? session.id,
      agent: { name: session.agent, version: "unknown", ...known },
      ...others,
    };
    if (Object.keys(own).length > 0) {
      const extra = isPlainObject(head["extra"]) ? head["extra"] : {};
      head["extra"] = { ...extra, [OWN]: own };
    }
    yield "{";
    for (const [name, value] of Object.entries(head)) {
      yield `\n  ${JSON.stringify(name)}: ${JSON.stringify(value)},`;
    }
    yield '\n  "steps": [';
    const steps = new AtifSteps(losses);
    let before = "\n    ";
    const write = function* (given: Iterable<JsonObject>) {
      for (const step of given) {
        yield before + JSON.stringify(step);
        before = ",\n    ";
      }
    };
    for await (const entry of entries()) yield* write(steps.add(entry));
    yield* write(steps.end());
    yield before === "\n    " ? "]" : "\n  ]";
    const metrics = toFinalMetrics(steps.totals, final_metrics, source === undefined);
    if (metrics !== undefined) yield `,\n  "final_metrics": ${JSON.stringify(metrics)}`;
    yield "\n}\n";
  },
};

/** The source's metrics of the whole run apply, unless steps were added here. */
function toFinalMetrics(
  totals: AtifSteps["totals"],
  kept: unknown,
  isNative: boolean,
): JsonObject | undefined {
  const { prompt, completion, cached, steps, hasUsage } = totals;
  if (!isNative) {
    if (!isPlainObject(kept)) return undefined;
    const isSame = kept["total_steps"] === undefined || kept["total_steps"] === steps;
    return (isSame ? kept : { ...kept, total_steps: steps }) as JsonObject;
  }
  const tokens = {
    total_prompt_tokens: prompt,
    total_completion_tokens: completion,
    total_cached_tokens: cached,
  };
  return { ...(hasUsage ? tokens : {}), total_steps: steps };
}

interface OpenStep {
  readonly step: Record<string, unknown>;
  readonly calls: ReadonlySet<string>;
  readonly results: JsonObject[];
  readonly errors: string[];
  /** The results' time, where the format's own field lacks it. */
  observedAt?: string;
}

class AtifSteps {
  readonly totals = { prompt: 0, completion: 0, cached: 0, steps: 0, hasUsage: false };
  readonly #losses: LossLog;
  #open: OpenStep | undefined;

  constructor(losses: LossLog) {
    this.#losses = losses;
  }

  *add(entry: Entry): Generator<JsonObject> {
    if (entry.status === "aborted") {
      this.#losses.add("aborted messages");
      return;
    }
    if (entry.kind === "message" && entry.role === "tool") {
      yield* this.#results(entry);
      return;
    }
    const step = this.#step(entry);
    if (step === undefined) return;
    yield* this.end();
    this.#open = step;
  }

  /** The held step. */
  *end(): Generator<JsonObject> {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const { step, results, errors, observedAt } = open;
    if (results.length > 0) step["observation"] = { results };
    if (errors.length > 0) addExtra(step, { errors });
    if (observedAt !== undefined) addExtra(step, { observed_at: observedAt });
    this.totals.steps++;
    yield { step_id: this.totals.steps, ...step } as JsonObject;
  }

  #step(entry: Entry): OpenStep | undefined {
    const { kind, role } = entry;
    const isSummary = kind === "compaction" || kind === "branch_summary";
    if (kind !== "message" && kind !== "custom_message" && !isSummary) {
      countKind(entry, this.#losses);
      return undefined;
    }
    const source = sourceFieldsOf(entry, FORMAT);
    if (source === undefined) this.#countFields(entry);
    const { timestamp, parts, metrics, model_name, ...fields } = source?.fields ?? {};
    const by = isSummary || role === "system" ? "system" : role === "assistant" ? "agent" : "user";
    const createdAt = timestamp ?? new Date(entry.createdAt).toISOString();
    const step: Record<string, unknown> = {
      timestamp: createdAt,
      source: by,
      message: this.#message(entry.blocks, parts === true),
      ...(by === "agent" ? this.#answer(entry, source === undefined, model_name, metrics) : {}),
      ...fields,
    };
    if (isSummary && source === undefined) addExtra(step, { kind });
    if (by === "agent") {
      const calls = entry.blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
      return { step, calls: new Set(calls), results: [], errors: [] };
    }
    return { step, calls: new Set(), results: [], errors: [] };
  }

  #answer(
    entry: Entry,
    isNative: boolean,
    name: JsonValue | undefined,
    kept: JsonValue | undefined,
  ): Record<string, unknown> {
    const thoughts = entry.blocks.filter((block) => block.type === "thinking");
    const signed = thoughts.filter(({ signature }) => signature !== undefined).length;
    this.#losses.add("signatures of thoughts", signed);
    const calls = entry.blocks.filter((block) => block.type === "tool_use");
    const model = isNative ? (entry.model ?? undefined) : name;
    const { usage } = entry;
    const other = isPlainObject(kept) ? (kept as JsonObject) : {};
    const metrics = { ...(usage === null ? {} : this.#metrics(usage)), ...other };
    const creation = usage?.cacheCreationTokens ?? 0;
    if (creation > 0) {
      const extra = isPlainObject(other["extra"]) ? other["extra"] : {};
      Object.assign(metrics, { extra: { cache_creation_input_tokens: creation, ...extra } });
    }
    return {
      ...(model === undefined ? {} : { model_name: model }),
      ...(thoughts.length === 0
        ? {}
        : { reasoning_content: thoughts.map(({ text }) => text).join("\n\n") }),
      ...(calls.length === 0
        ? {}
        : {
            tool_calls: calls.map((call) => ({
              tool_call_id: call.id,
              function_name: call.name,
              arguments: this.#arguments(inputTextOf(call)),
            })),
          }),
      ...(Object.keys(metrics).length === 0 ? {} : { metrics }),
    };
  }

  #metrics(usage: NonNullable<Entry["usage"]>): Record<string, number> {
    const { inputTokens, outputTokens, cacheReadTokens, cacheCreationTokens } = usage;
    const prompt = inputTokens + cacheReadTokens + cacheCreationTokens;
    this.totals.prompt += prompt;
    this.totals.completion += outputTokens;
    this.totals.cached += cacheReadTokens;
    this.totals.hasUsage = true;
    return {
      prompt_tokens: prompt,
      completion_tokens: outputTokens,
      ...(cacheReadTokens === 0 ? {} : { cached_tokens: cacheReadTokens }),
    };
  }

  /** The format requires an object. */
  #arguments(input: string): unknown {
    try {
      const value = parseExact(input);
      if (isPlainObject(value)) return value;
    } catch {
      // Invalid JSON: the model's text is kept.
    }
    this.#losses.add("arguments that are no JSON object");
    return { input };
  }

  *#results(entry: Entry): Generator<JsonObject> {
    const source = sourceFieldsOf(entry, FORMAT);
    if (source === undefined) this.#countFields(entry);
    if (this.#open === undefined) {
      const timestamp = new Date(entry.createdAt).toISOString();
      const bare = { timestamp, source: "system", message: "" };
      this.#open = { step: bare, calls: new Set(), results: [], errors: [] };
    }
    const { calls, results, errors, step } = this.#open;
    const at = new Date(entry.createdAt).toISOString();
    if (source === undefined && step["timestamp"] !== at) this.#open.observedAt = at;
    for (const block of entry.blocks) {
      if (block.type !== "tool_result") {
        this.#losses.add("blocks beside results");
        continue;
      }
      const isKnown = calls.has(block.toolUseId);
      if (!isKnown && block.toolUseId !== "") this.#losses.add("results without their calls");
      results.push(this.#result(block, isKnown, source !== undefined));
      if (block.isError && !("extra" in block)) errors.push(block.toolUseId);
    }
    yield* [];
  }

  #result(block: ToolResultBlock, isKnown: boolean, isAtif: boolean): JsonObject {
    const { type: _, toolUseId, toolName: __, output, isError: ___, ...rest } = block;
    const isText = typeof output === "string";
    const content = isText ? output : this.#message(output, isAtif);
    const isLeftOut = !isText && output.length === 0 && isAtif;
    return {
      ...(isKnown ? { source_call_id: toolUseId } : {}),
      ...(isLeftOut ? {} : { content }),
      ...(rest as JsonObject),
    };
  }

  /** Text; parts with images only if the source had them: older versions have no images. */
  #message(blocks: readonly Block[], hasParts: boolean): JsonValue {
    const parts = blocks.flatMap((block): JsonObject[] => {
      if (block.type === "text") return [{ type: "text", text: block.text }];
      if (block.type === "thinking" || block.type === "tool_use") return [];
      const { url, mediaType } = block.type === "image" ? block : {};
      if (hasParts && url !== undefined && mediaType !== undefined) {
        return [{ type: "image", source: { media_type: mediaType, path: url } }];
      }
      if (block.type === "opaque" && block.provider === FORMAT) {
        return [JSON.parse(block.json) as JsonObject];
      }
      this.#losses.add(block.type === "image" ? "images" : "blocks of other providers");
      return [];
    });
    if (hasParts) return parts;
    return parts.map(({ text }) => (typeof text === "string" ? text : "")).join("\n");
  }

  #countFields(entry: Entry): void {
    if (entry.kind === "custom_message") this.#losses.add("custom messages written as the user's");
    if (entry.actor !== null && entry.role === "user") this.#losses.add("actors of messages");
    if (entry.pinned) this.#losses.add("pins");
    if (hasOwnMetadata(entry.metadata)) this.#losses.add("metadata of messages");
  }
}

/** Merges with an earlier export's fields. */
function addExtra(step: Record<string, unknown>, added: JsonObject): void {
  const extra = isPlainObject(step["extra"]) ? step["extra"] : {};
  const own = isPlainObject(extra[OWN]) ? extra[OWN] : {};
  step["extra"] = { ...extra, [OWN]: { ...own, ...added } };
}
