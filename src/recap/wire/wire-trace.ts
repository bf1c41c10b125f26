/** Traces on the wire, and back. */

import { fromWireSession, toWireSession, type WireSession } from "../../api/session.ts";
import { fromWireTime, toWireTime } from "../../api/wire.ts";
import type { Call } from "../read-acts.ts";
import type { Subject } from "../subject.ts";
import type { Trace } from "../trace.ts";
import type { Clearing, Finding, Span } from "../trace-session.ts";

export interface WireTracedCall {
  readonly msg_idx: number;
  readonly tool: string;
  readonly input: string;
  readonly files_changed: readonly string[];
  readonly files_read: readonly string[];
  readonly commands: readonly string[];
  readonly created_at: string;
  readonly result: {
    readonly msg_idx: number;
    readonly failed: boolean;
    readonly output: string;
  } | null;
}

export interface WireClearing {
  readonly edits: readonly WireTracedCall[];
  readonly success: WireTracedCall | null;
  readonly answer: { readonly msg_idx: number; readonly text: string } | null;
}

/** Fields that a kind does not have are null. */
export interface WireFinding {
  readonly kind: Subject["kind"];
  readonly changed: Span | null;
  readonly read: Span | null;
  readonly commands: Span | null;
  readonly runs: Span | null;
  readonly failures: Span | null;
  readonly met: Span | null;
  readonly line: string | null;
  /** The last change, the last run, or the last call that met the error. */
  readonly call: WireTracedCall | null;
  readonly asked: string | null;
  readonly cleared: WireClearing | null;
}

export interface WireTrace {
  readonly subject: Subject;
  readonly within_words: boolean;
  readonly sessions: readonly {
    readonly session: WireSession;
    readonly finding: WireFinding;
    readonly other_branch: boolean;
  }[];
  readonly more: number;
  readonly unread: number;
}

export function toWireTrace({ withinWords, sessions, ...rest }: Trace): WireTrace {
  return {
    ...rest,
    within_words: withinWords,
    sessions: sessions.map(({ session, finding, otherBranch }) => ({
      session: toWireSession(session),
      finding: toWireFinding(finding),
      other_branch: otherBranch,
    })),
  };
}

export function fromWireTrace({ within_words, sessions, ...rest }: WireTrace): Trace {
  return {
    ...rest,
    withinWords: within_words,
    sessions: sessions.map(({ session, finding, other_branch }) => ({
      session: fromWireSession(session),
      finding: fromWireFinding(finding),
      otherBranch: other_branch,
    })),
  };
}

const NOTHING: Omit<WireFinding, "kind"> = {
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

export function toWireFinding(finding: Finding): WireFinding {
  switch (finding.kind) {
    case "file": {
      const { kind, changed, read, commands, lastChange, asked } = finding;
      return { ...NOTHING, kind, changed, read, commands, call: toWireCall(lastChange), asked };
    }
    case "command": {
      const { kind, runs, failures, lastRun, cleared } = finding;
      const call = toWireCall(lastRun);
      return { ...NOTHING, kind, runs, failures, call, cleared: toWireClearing(cleared) };
    }
    case "error": {
      const { kind, met, line, call, cleared } = finding;
      const wire = { kind, met, line, call: toWireCall(call), cleared: toWireClearing(cleared) };
      return { ...NOTHING, ...wire };
    }
  }
}

function fromWireFinding(finding: WireFinding): Finding {
  const { kind, changed, read, commands, asked, runs, failures, met, line } = finding;
  const call = fromWireCall(finding.call);
  const cleared = fromWireClearing(finding.cleared);
  switch (kind) {
    case "file":
      return { kind, changed, read, commands, lastChange: call, asked };
    case "command":
      return { kind, runs: runs as Span, failures, lastRun: call as Call, cleared };
    case "error":
      return { kind, met: met as Span, line: line as string, call, cleared };
  }
}

function toWireClearing(cleared: Clearing | null): WireClearing | null {
  if (cleared === null) return null;
  const { edits, success, answer } = cleared;
  return {
    edits: edits.flatMap((edit) => toWireCall(edit) ?? []),
    success: toWireCall(success),
    answer: answer === null ? null : { msg_idx: answer.index, text: answer.text },
  };
}

function fromWireClearing(cleared: WireClearing | null): Clearing | null {
  if (cleared === null) return null;
  const { edits, success, answer } = cleared;
  return {
    edits: edits.flatMap((edit) => fromWireCall(edit) ?? []),
    success: fromWireCall(success),
    answer: answer === null ? null : { index: answer.msg_idx, text: answer.text },
  };
}

function toWireCall(call: Call | null): WireTracedCall | null {
  if (call === null) return null;
  const { index, tool, input, effects, at, result } = call;
  return {
    msg_idx: index,
    tool,
    input,
    files_changed: effects.changed,
    files_read: effects.read,
    commands: effects.commands,
    created_at: toWireTime(at),
    result:
      result === undefined
        ? null
        : { msg_idx: result.index, failed: result.failed, output: result.output },
  };
}

function fromWireCall(call: WireTracedCall | null): Call | null {
  if (call === null) return null;
  const { msg_idx: index, tool, input, commands, created_at, result } = call;
  const made: Call = {
    type: "call",
    index,
    tool,
    input,
    effects: { changed: call.files_changed, read: call.files_read, commands },
    at: fromWireTime(created_at),
  };
  if (result === null) return made;
  const { failed, output } = result;
  return { ...made, result: { index: result.msg_idx, failed, output } };
}
