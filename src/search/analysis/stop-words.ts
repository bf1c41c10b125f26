/**
 * Stop words.
 *
 * They are indexed like all others, so that phrases with them are found; a query weighs them near
 * zero beside other words. `not`, `no`, `never` and `without` are excluded: they change the
 * meaning. The list has three measured parts: function words, question words, and phrases of
 * requests.
 */

import type { Language } from "./analyze.ts";
import { ENGLISH } from "./morphology.ts";

const GRAMMAR = `
  a an the and or but if than then so as of to in on at for with by from into over about after before
  between during while because until up down out off again further once here there this that these
  those i me my mine myself you your yours yourself he him his himself she her hers herself it its
  itself we us our ours ourselves they them their theirs themselves am is are was were be been being
  do does did done doing have has had having will would shall should can could might must all any
  both each few more most other some such only own same too very just also`;

const QUESTIONS = "who whom whose what which when where why how";

const REQUESTS = `
  please tell show find help let like get got go going went make made know want need say said much
  many one now still even well really back way thing things something anything someone yes ok okay
  hey hi thanks thank sure`;

/** Near zero but not zero, to break ties in favour of the fuller match. */
const STOP_WORD_WEIGHT = 0.05;

const ENGLISH_STOP_TERMS: ReadonlySet<string> = new Set(
  `${GRAMMAR} ${QUESTIONS} ${REQUESTS}`.trim().split(/\s+/).map(ENGLISH.stem),
);

/** The weight of a query term: below 1 for stop-words. Months are no stop-words. */
export function stopWordWeight(term: string, language: Language): number {
  return language === "english" && ENGLISH_STOP_TERMS.has(term) ? STOP_WORD_WEIGHT : 1;
}
