/** Fetches a session in parallel with the code that renders it. */

import type { RemoteEngine } from "../../client/index.ts";
import { dropEarlyAnswers, type SessionPlace } from "../data/early-requests.ts";
import { SessionModel } from "./session-model.ts";

export interface OpenedSession {
  readonly model: SessionModel;
  /** The result of `SessionModel.open`. */
  readonly start: ReturnType<SessionModel["open"]>;
}

let early: { readonly key: string; readonly opened: OpenedSession } | undefined;

export function openEarly(engine: RemoteEngine, place: SessionPlace): void {
  early?.opened.model.close();
  const opened = open(engine, place);
  early = { key: keyOf(place), opened };
  void opened.start.finally(dropEarlyAnswers);
}

/** Takes over a session that was opened early, or opens it now. */
export function takeOpened(engine: RemoteEngine, place: SessionPlace): OpenedSession {
  const taken = early;
  early = undefined;
  if (taken?.key === keyOf(place)) return taken.opened;
  taken?.opened.model.close();
  return open(engine, place);
}

function open(engine: RemoteEngine, { id, leaf, at }: SessionPlace): OpenedSession {
  const model = new SessionModel(engine, id, leaf === "" ? undefined : leaf);
  return { model, start: model.open(at) };
}

function keyOf({ id, leaf, at }: SessionPlace): string {
  return JSON.stringify([id, leaf, at]);
}
