/**
 * Markdown as HTML that is safe to show.
 *
 * Transcripts are full of tags that were meant as text: HTML inside of Markdown is shown as it was
 * written. What comes out is sanitised all the same, and is the only HTML of the page.
 */

import DOMPurify from "dompurify";
import { Marked } from "marked";

/** Longer texts are shown as they are: parsing must not stop the page. */
export const MAX_MARKDOWN = 200_000;

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    // Remote images become links: the page loads nothing from other origins.
    image: ({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
  },
});

const ALLOWED_TAGS = [
  "p",
  "br",
  "hr",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "blockquote",
  "ul",
  "ol",
  "li",
  "strong",
  "em",
  "del",
  "code",
  "pre",
  "a",
  "table",
  "thead",
  "tbody",
  "tr",
  "th",
  "td",
  "input",
];

// Set once: with each call DOMPurify would build its sets of names anew.
DOMPurify.setConfig({
  ALLOWED_TAGS,
  ALLOWED_ATTR: ["href", "class", "align", "type", "checked", "start"],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  ALLOW_DATA_ATTR: false,
  RETURN_TRUSTED_TYPE: true,
});
DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    node.setAttribute("rel", "noreferrer noopener");
    node.setAttribute("target", "_blank");
  }
  if (node.tagName === "INPUT") node.setAttribute("disabled", "");
});

/** Replaces the content of `place` by `text`. */
export function showMarkdown(place: Element, text: string): void {
  const html = marked.parse(text, { async: false });
  const clean = DOMPurify.sanitize(html);
  place.innerHTML = clean as unknown as string;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
