/** The text of a message, as Markdown or plain. */

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { colour } from "../code/colour.ts";
import { loadMarkdown, MAX_MARKDOWN, showMarkdown } from "../markdown/markdown.ts";
import { size, withoutAnsi } from "../parts/words.ts";

export function Markdown({ text }: { readonly text: string }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null || text.length > MAX_MARKDOWN || show(element, text)) return;
    element.textContent = text;
    let isGone = false;
    void loadMarkdown().then(() => {
      if (!isGone) show(element, text);
    });
    return () => {
      isGone = true;
    };
  }, [text]);
  if (text.length > MAX_MARKDOWN) return <Plain text={text} />;
  return <div class="markdown" dir="auto" ref={place} />;
}

function show(place: HTMLElement, text: string): boolean {
  if (!showMarkdown(place, text)) return false;
  for (const code of place.querySelectorAll<HTMLElement>("pre > code")) {
    const language = /\blanguage-(\S+)/.exec(code.className)?.[1];
    if (language !== undefined) colour(code, language);
  }
  return true;
}

/** The initially shown part of a long text, in characters. */
const PART = 100_000;

export function Plain(props: { readonly text: string; readonly class?: string }) {
  const { class: name } = props;
  const text = withoutAnsi(props.text);
  const shown = useSignal(PART);
  return (
    <>
      <pre class={`plain ${name ?? ""}`} dir="auto">
        {text.length > shown.value ? text.slice(0, shown.value) : text}
      </pre>
      {text.length > shown.value && (
        <button
          type="button"
          onClick={() => {
            shown.value += PART;
          }}
        >
          Show more: {size(text.length - shown.value)} are left
        </button>
      )}
    </>
  );
}
