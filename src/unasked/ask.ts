/**
 * What memory says unasked in a moment of an agent's work, if it is sure; else silence, and why.
 *
 * It decides and stores nothing. Reads end with the deadline: a late or incomplete answer is
 * silence.
 */

import type { TenantApi } from "../engine/interfaces.ts";
import { Asker } from "./asker.ts";
import { askError } from "./error/error.ts";
import { askFile } from "./file/file.ts";
import { frame, personLine } from "./frame.ts";
import type { Moment, Unasked, UnaskedOptions, Verdict } from "./moment.ts";
import { askPrompt } from "./prompt/prompt.ts";
import { askStart } from "./start/start.ts";

export async function askUnasked(
  tenant: TenantApi,
  moment: Moment,
  options: UnaskedOptions = {},
): Promise<Unasked> {
  const asker = new Asker(tenant, moment, options);
  const verdict = await judge(asker, moment);
  const { reason, figures = {}, found } = verdict;
  if (reason !== "sure" || found === undefined) return silence(reason, figures);
  const { hit, lines, person } = found;
  // Whoever was led to a conversation can read on there.
  const isWhole = moment.moment === "prompt";
  const wasSaid = moment.said?.some(
    ({ sessionId, index }) => sessionId === hit.sessionId && (isWhole || index === hit.index),
  );
  if (wasSaid) return silence("already_said", figures);
  if (await asker.isMarked(hit)) return silence("marked", figures);
  if (asker.isLate) return silence("incomplete", figures);
  const text = frame(lines, moment.moment);
  if (text === undefined) return silence("unsure", figures);
  const signs = [hit.shortId, ...(found.command === undefined ? [] : [found.command])];
  return { speaks: true, why: { reason, figures }, text, person: personLine(person), hit, signs };
}

function silence(reason: Verdict["reason"], figures: Readonly<Record<string, number>>): Unasked {
  return { speaks: false, why: { reason, figures }, text: "", person: "", hit: null, signs: [] };
}

function judge(asker: Asker, moment: Moment): Promise<Verdict> {
  switch (moment.moment) {
    case "prompt":
      return askPrompt(asker, moment.text);
    case "error":
      return askError(asker, moment.command, moment.error);
    case "file":
      return askFile(asker, moment.file);
    case "start":
      return askStart(asker);
  }
}
