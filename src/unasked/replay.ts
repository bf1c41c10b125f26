/** What memory would have said in the moments of a session that is over, each as of its own time. */

import type { TenantApi } from "../engine/interfaces.ts";
import type { Session } from "../model/session.ts";
import { type Act, readActs } from "../recap/read-acts.ts";
import { askUnasked } from "./ask.ts";
import type { Moment, Unasked, UnaskedHit, UnaskedOptions } from "./moment.ts";

export interface Replayed {
  readonly moment: Moment;
  /** Of the message in the session. */
  readonly index: number;
  readonly answer: Unasked;
}

/** The moments of these kinds from `since` on, in their order. Nothing is said twice. */
export async function* replaySession(
  tenant: TenantApi,
  session: Session,
  kinds: readonly Moment["moment"][],
  since: number,
  options: UnaskedOptions = {},
): AsyncGenerator<Replayed> {
  const { id, origin, startedAt } = session;
  const { projectPath: cwd = "/", gitBranch: branch } = origin;
  const said: UnaskedHit[] = [];
  const read = new Set<string>();
  const { acts } = await readActs(tenant, id);
  const moments = acts.flatMap((act) => partsOf(act, read).map((part) => ({ part, act })));
  const start = { part: { moment: "start" }, act: { at: startedAt, index: 0 } } as const;
  for (const { part, act } of [start, ...moments]) {
    const { at, index } = act;
    if (at < since || !kinds.includes(part.moment)) continue;
    const place = { cwd, at, session: id, said, ...(branch === undefined ? {} : { branch }) };
    const moment = { ...place, ...part };
    const answer = await askUnasked(tenant, moment, options);
    if (answer.hit !== null) said.push(answer.hit);
    yield { moment, index, answer };
  }
}

type Part =
  | { readonly moment: "prompt"; readonly text: string }
  | { readonly moment: "error"; readonly command: string; readonly error: string }
  | { readonly moment: "file"; readonly file: string };

function partsOf(act: Act, read: Set<string>): readonly Part[] {
  if (act.type === "said") {
    return act.role === "user" ? [{ moment: "prompt", text: act.text }] : [];
  }
  const { effects, result } = act;
  if (result === undefined) return [];
  if (result.failed) {
    const [command] = effects.commands;
    return command === undefined ? [] : [{ moment: "error", command, error: result.output }];
  }
  const files = effects.read.filter((file) => !read.has(file));
  for (const file of files) read.add(file);
  return files.map((file) => ({ moment: "file", file }));
}
