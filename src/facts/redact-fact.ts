/** Redacts facts. Every fact passes through here before it is stored. */

import { isPlainObject, type JsonObject } from "../model/json.ts";
import { REDACTED, redact, redactNamed } from "../secrets/redact.ts";
import type { ProposedFact } from "./fact-extractor.ts";
import { redactPersonal } from "./personal-data.ts";

/** Secrets are always removed; `personal` also removes identifying data. */
export type FactRedaction = "secrets" | "personal";

/** Reads `facts.redact` of a session's metadata. An unknown value redacts the most. */
export function factRedactionOf(metadata: JsonObject): FactRedaction {
  const { facts } = metadata;
  const wanted = isPlainObject(facts) ? facts["redact"] : undefined;
  const isOff = wanted === undefined || wanted === null || wanted === false;
  return isOff || wanted === "secrets" ? "secrets" : "personal";
}

/** The redacted fact; null if no statement is left. */
export function redactFact<Kept extends ProposedFact>(
  fact: Kept,
  redaction: FactRedaction,
): Kept | null {
  const clean = (text: string) => {
    const { text: masked } = redact(text);
    return redaction === "personal" ? redactPersonal(masked) : masked;
  };
  // `subject` and `predicate` may show that `object` is a secret.
  const names = [fact.predicate.replace(COPULA, ""), fact.subject];
  const isNamed = names.some((name) => redactNamed(asName(name), fact.object) === REDACTED);
  const kept: Kept = {
    ...fact,
    subject: clean(fact.subject),
    predicate: clean(fact.predicate),
    object: isNamed ? REDACTED : clean(fact.object),
  };
  const isEmpty = [kept.subject, kept.predicate, kept.object].some(isOnlyMarks);
  return isEmpty ? null : kept;
}

/** "password is" names a password as "password" does. */
const COPULA = /(?<![\s_])[\s_]+(?:is|are|was|set to|equals)$/i;

/** "API key" as a program's identifier, the form in which secrets are recognised. */
function asName(text: string): string {
  return text.replace(/\s+/g, "_");
}

function isOnlyMarks(text: string): boolean {
  return text.includes(REDACTED) && !/[\p{L}\p{N}]/u.test(text.replaceAll(REDACTED, ""));
}
