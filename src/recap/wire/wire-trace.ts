/** Traces on the wire, and back: findings of all kinds have the same fields there. */

import { fromWire, toWire, type WireOf } from "../../api/shape.ts";
import { type CLEARING, FINDING, TRACE, type TRACED_CALL } from "../../model/answers/context.ts";
import type { ValueOf } from "../../model/shape.ts";
import type { Call } from "../read-acts.ts";
import type { Trace } from "../trace.ts";
import type { Clearing, Finding, Span } from "../trace-session.ts";

export type WireTracedCall = WireOf<typeof TRACED_CALL>;
export type WireClearing = WireOf<typeof CLEARING>;
export type WireFinding = WireOf<typeof FINDING>;
export type WireTrace = WireOf<typeof TRACE>;

/** A call with its effects as fields of its own. */
type FlatCall = ValueOf<typeof TRACED_CALL>;

export function toWireTrace(trace: Trace): WireTrace {
  const sessions = trace.sessions.map((each) => ({ ...each, finding: flatFinding(each.finding) }));
  return toWire(TRACE, { ...trace, sessions });
}

export function fromWireTrace(wire: unknown): Trace {
  const trace = fromWire(TRACE, wire);
  const sessions = trace.sessions.map((each) => ({ ...each, finding: findingOf(each.finding) }));
  return { ...trace, sessions };
}

export function toWireFinding(finding: Finding): WireFinding {
  return toWire(FINDING, flatFinding(finding));
}

const NOTHING: Omit<ValueOf<typeof FINDING>, "kind"> = {
  changed: null,
  read: null,
  commands: null,
  runs: null,
  failures: null,
  met: null,
  line: null,
  call: null,
  asked: null,
  cleared: null,
};

function flatFinding(finding: Finding): ValueOf<typeof FINDING> {
  if (finding.kind === "file") {
    return { ...NOTHING, ...finding, call: flatCall(finding.lastChange) };
  }
  const call = flatCall(finding.kind === "command" ? finding.lastRun : finding.call);
  return { ...NOTHING, ...finding, call, cleared: flatClearing(finding.cleared) };
}

function findingOf(flat: ValueOf<typeof FINDING>): Finding {
  const { kind, changed, read, commands, asked, runs, failures, met, line } = flat;
  const call = callOf(flat.call);
  const cleared = clearingOf(flat.cleared);
  switch (kind) {
    case "file":
      return { kind, changed, read, commands, lastChange: call, asked };
    case "command":
      return { kind, runs: runs as Span, failures, lastRun: call as Call, cleared };
    case "error":
      return { kind, met: met as Span, line: line as string, call, cleared };
  }
}

function flatClearing(cleared: Clearing | null): ValueOf<typeof CLEARING> | null {
  if (cleared === null) return null;
  const edits = cleared.edits.flatMap((edit) => flatCall(edit) ?? []);
  return { ...cleared, edits, success: flatCall(cleared.success) };
}

function clearingOf(flat: ValueOf<typeof CLEARING> | null): Clearing | null {
  if (flat === null) return null;
  const edits = flat.edits.flatMap((edit) => callOf(edit) ?? []);
  return { ...flat, edits, success: callOf(flat.success) };
}

function flatCall(call: Call | null): FlatCall | null {
  if (call === null) return null;
  const { changed: filesChanged, read: filesRead, commands } = call.effects;
  return { ...call, filesChanged, filesRead, commands, createdAt: call.at };
}

function callOf(flat: FlatCall | null): Call | null {
  if (flat === null) return null;
  const { filesChanged: changed, filesRead: read, commands, createdAt: at, ...same } = flat;
  return { type: "call", ...same, effects: { changed, read, commands }, at };
}
