/**
 * Renders Markdown as sanitised HTML.
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
  // A fragment is not parsed a second time, as a string would be.
  RETURN_DOM_FRAGMENT: true,
});
DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    node.setAttribute("rel", "noreferrer noopener");
    node.setAttribute("target", "_blank");
  }
  if (node.tagName === "INPUT") node.setAttribute("disabled", "");
});

/**
 * Lines of prose that begin with a letter and have no character that means something in Markdown. Most
 * of what people type is like this, and needs neither parser nor sanitiser.
 */
const PROSE = /^(?:\p{L}[\p{L}\p{M}\p{N} .,;?!()"'’“”…-]*(?:\n{1,2}|$))*$/u;

/** Replaces the content of `place` by `text`. */
export function showMarkdown(place: Element, text: string): void {
  if (PROSE.test(text) && !/www\./i.test(text)) {
    const parts = text.trim().split("\n\n");
    place.replaceChildren(...parts.filter((part) => part !== "").map(paragraph));
    return;
  }
  const html = marked.parse(text, { async: false });
  place.replaceChildren(DOMPurify.sanitize(html) as unknown as DocumentFragment);
}

function paragraph(text: string): Element {
  const element = document.createElement("p");
  for (const [at, line] of text.split("\n").entries()) {
    if (at > 0) element.append(document.createElement("br"));
    element.append(line);
  }
  return element;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
