/** Related sessions on the wire, and back. */

import { fromWireHit, toWireHit, type WireHit } from "../../api/search.ts";
import type { Related } from "../related.ts";

export interface WireRelated {
  readonly question: string | null;
  readonly sessions: readonly WireHit[];
  readonly asked: readonly WireHit[];
  readonly notes: readonly string[];
}

export function toWireRelated({ question, sessions, asked, notes }: Related): WireRelated {
  return { question, sessions: sessions.map(toWireHit), asked: asked.map(toWireHit), notes };
}

export function fromWireRelated({ question, sessions, asked, notes }: WireRelated): Related {
  return { question, sessions: sessions.map(fromWireHit), asked: asked.map(fromWireHit), notes };
}
