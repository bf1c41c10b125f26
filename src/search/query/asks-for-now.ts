/** Whether a question asks for what holds now, as "how many guests are invited" does. English. */

const ASKS =
  /^(?:(?:and|so|but) )?(?:what(?:['’]s)?|which|who|where|when(?:['’]s)?|how (?:many|much|long|often|old|far|big|large|high|fast)|has|have|is|are|am|do|does)\b/i;

/** Says that only the newest answer counts, whatever the tense. */
const LATEST =
  /\b(?:most recent(?:ly)?|latest|newest|current(?:ly)?|now|right now|at this point|today|these days|so far|still)\b/i;

const PRESENT = /\b(?:is|are|am|do|does|has|have|can|should|will)\b|['’]s\b/i;

/** Asks for an event, for what was said, for what held before, or for several values together. */
const PAST =
  /\b(?:did|was|were|had|would|between|before|initial|initially|original|originally|at first|first time|earliest|earlier|previous|previously|in total|combined|altogether|across|ever|used to|mention|mentioned|said|say)\b/i;

/** Longer texts are no question. */
const MAX_LENGTH = 400;

export function asksForNow(text: string): boolean {
  const question = text.trim();
  if (question.length > MAX_LENGTH || !ASKS.test(question)) return false;
  return LATEST.test(question) || (PRESENT.test(question) && !PAST.test(question));
}
