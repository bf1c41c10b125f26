/** Recaps on the wire, and back. */

import { fromWireSession, toWireSession, type WireSession } from "../../api/session.ts";
import type { Recap, RecapLine, SessionRecap } from "../recap.ts";

export interface WireRecapLine {
  readonly msg_idx: number;
  readonly text: string;
}

export interface WireSessionRecap {
  readonly session: WireSession;
  readonly messages: number;
  readonly unread: number;
  readonly requests: readonly WireRecapLine[];
  readonly request_count: number;
  readonly outcome: WireRecapLine | null;
  readonly files_changed: readonly {
    readonly path: string;
    readonly msg_idx: number;
    readonly times: number;
  }[];
  readonly files_read: number;
  readonly commands: readonly (WireRecapLine & {
    readonly times: number;
    readonly failed: boolean | null;
  })[];
  readonly lookups: number;
}

export interface WireRecap {
  readonly sessions: readonly WireSessionRecap[];
  readonly more: boolean;
  readonly sub_agents: number;
}

export function toWireRecap({ sessions, more, subAgents }: Recap): WireRecap {
  return { sessions: sessions.map(toWireSessionRecap), more, sub_agents: subAgents };
}

function toWireSessionRecap(recap: SessionRecap): WireSessionRecap {
  const { session, outcome } = recap;
  return {
    session: toWireSession(session),
    messages: recap.messages,
    unread: recap.unread,
    requests: recap.requests.map(toWireLine),
    request_count: recap.requestCount,
    outcome: outcome === null ? null : toWireLine(outcome),
    files_changed: recap.filesChanged.map(({ path, index, times }) => ({
      path,
      msg_idx: index,
      times,
    })),
    files_read: recap.filesRead,
    commands: recap.commands.map(({ text, index, times, failed }) => ({
      msg_idx: index,
      text,
      times,
      failed: failed ?? null,
    })),
    lookups: recap.lookups,
  };
}

function toWireLine({ index, text }: RecapLine): WireRecapLine {
  return { msg_idx: index, text };
}

export function fromWireRecap({ sessions, more, sub_agents: subAgents }: WireRecap): Recap {
  return { sessions: sessions.map(fromWireSessionRecap), more, subAgents };
}

function fromWireSessionRecap(recap: WireSessionRecap): SessionRecap {
  const { session, outcome } = recap;
  return {
    session: fromWireSession(session),
    messages: recap.messages,
    unread: recap.unread,
    requests: recap.requests.map(fromWireLine),
    requestCount: recap.request_count,
    outcome: outcome === null ? null : fromWireLine(outcome),
    filesChanged: recap.files_changed.map(({ path, msg_idx: index, times }) => ({
      path,
      index,
      times,
    })),
    filesRead: recap.files_read,
    commands: recap.commands.map(({ text, msg_idx: index, times, failed }) => ({
      text,
      index,
      times,
      ...(failed === null ? {} : { failed }),
    })),
    lookups: recap.lookups,
  };
}

function fromWireLine({ msg_idx: index, text }: WireRecapLine): RecapLine {
  return { index, text };
}
