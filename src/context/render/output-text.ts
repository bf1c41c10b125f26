/** What a tool gave back, for providers that take text and have no place for "this failed". */

import type { SentResult, SentText } from "../hygiene/turn.ts";

/** The text of a result; images are left out, they were lifted before. */
export function outputText(result: SentResult): string {
  return joinTexts(result.output.filter((part) => part.type === "text"));
}

/** The text of a result that says if it is an error. */
export function outputTextWithError(result: SentResult): string {
  const text = outputText(result);
  return result.isError && !SAYS_ERROR.test(text) ? `Error: ${text}` : text;
}

/** The parts of a result, the first of which says if it is an error. */
export function outputWithError(result: SentResult): SentResult["output"] {
  if (!result.isError || SAYS_ERROR.test(outputText(result))) return result.output;
  return [{ type: "text", text: "Error:" }, ...result.output];
}

const SAYS_ERROR = /^\W*error\b/i;

/** A blank line between texts that were apart. */
export function joinTexts(texts: readonly SentText[]): string {
  return texts.map((part) => part.text).join("\n\n");
}

/** An image as the address that holds it, for providers that take any image as one. */
export function dataUrl(image: { readonly data: string; readonly mediaType: string }): string {
  return `data:${image.mediaType};base64,${image.data}`;
}
