/**
 * A session as a trajectory in the Agent Trajectory Interchange Format. Version 1.4 suffices for
 * our own sessions; a trajectory that was read keeps its version.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";
import { sourceFieldsOf } from "../../transcript/source-fields.ts";
import { givenTitle } from "../../transcript/title/title-text.ts";
import type { ExportFormat } from "../format.ts";
import { AtifSteps, FORMAT, OWN } from "./atif-step.ts";

const VERSION = "ATIF-v1.4";

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
