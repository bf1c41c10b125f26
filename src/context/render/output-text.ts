/** Tool results as text, for providers without a field for errors. */

import type { SentResult, SentText } from "../hygiene/turn.ts";

/** The text of a result; images were lifted before. */
export function outputText(result: SentResult): string {
  return joinTexts(result.output.filter((part) => part.type === "text"));
}

/** The text of a result, with a prefix if it is an error. */
export function outputTextWithError(result: SentResult): string {
  const text = outputText(result);
  return result.isError && !SAYS_ERROR.test(text) ? `Error: ${text}` : text;
}

/** The parts of a result, the first with a prefix if it is an error. */
export function outputWithError(result: SentResult): SentResult["output"] {
  if (!result.isError || SAYS_ERROR.test(outputText(result))) return result.output;
  return [{ type: "text", text: "Error:" }, ...result.output];
}

const SAYS_ERROR = /^\W*error\b/i;

/** Joins texts by a blank line. */
export function joinTexts(texts: readonly SentText[]): string {
  return texts.map((part) => part.text).join("\n\n");
}

/** An image as a URL or data URL. */
export function dataUrl(image: { readonly data: string; readonly mediaType: string }): string {
  return `data:${image.mediaType};base64,${image.data}`;
}
