/** The tracer of the host's OpenTelemetry, whose API is loaded on demand. */

import { BackscrollError } from "../model/errors.ts";
import type { TelemetryTracer } from "./traced-store.ts";

const API = "@opentelemetry/api";
const SCOPE = "backscroll";

interface TelemetryApi {
  readonly trace: { getTracer(name: string): TelemetryTracer };
}

/**
 * Throws `invalid_input` with the way out if the package is not installed. `api` is the package's
 * name.
 */
export async function loadTracer(api: string = API): Promise<TelemetryTracer> {
  let loaded: TelemetryApi;
  try {
    loaded = (await import(api)) as TelemetryApi;
  } catch (cause) {
    throw new BackscrollError(
      "invalid_input",
      `telemetry needs the package ${api}, which is not installed; run npm install ${api}, or leave telemetry out`,
      { details: { field: "telemetry" }, cause },
    );
  }
  return loaded.trace.getTracer(SCOPE);
}
