/** The blocks of a message. */

import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { inputTextOf } from "../../client/index.ts";
import { colour } from "../code/colour.ts";
import { sessionAddress } from "../data/address.ts";
import type { Block, BlockOf, Entry } from "../data/connection.ts";
import { loadMarkdown, MAX_MARKDOWN, showMarkdown } from "../markdown/markdown.ts";
import { below, counted, size, withoutAnsi } from "../parts/words.ts";
import type { ToolResult } from "./message-pages.ts";
import type { SessionModel } from "./session-model.ts";
import { callLine, editOf, oneLine, parseInput, readable, typedCommand } from "./tool-call.ts";

export interface BlockProps {
  readonly entry: Entry;
  readonly model: SessionModel;
  /** Results of the calls of this message, by the call's id: see `MessagePages.resultOf`. */
  readonly results: ReadonlyMap<string, ToolResult | null | undefined>;
}

export function Blocks(props: BlockProps & { readonly blocks: readonly Block[] }) {
  const { blocks, entry, model, results } = props;
  return (
    <>
      {blocks.map((block, at) => (
        <OneBlock
          key={at}
          block={block}
          name={`${entry.id}:${at}`}
          entry={entry}
          model={model}
          results={results}
        />
      ))}
    </>
  );
}

function OneBlock(props: BlockProps & { readonly block: Block; readonly name: string }) {
  const { block, name } = props;
  switch (block.type) {
    case "text":
      return props.entry.role === "user" ? (
        <UserText text={block.text} />
      ) : (
        <Markdown text={block.text} />
      );
    case "thinking":
      return (
        <Fold
          name={name}
          class="thinking"
          line={
            <>
              <i>thinking</i> <span dir="auto">{oneLine(block.text)}</span>
            </>
          }
        >
          {() => <Markdown text={block.text} />}
        </Fold>
      );
    case "tool_use":
      return <Call {...props} block={block} />;
    case "tool_result":
      return <Result name={name} block={block} />;
    case "image":
      return <Image block={block} />;
    case "opaque":
      return (
        <Fold name={name} line={<i>{block.provider ?? "provider"} data</i>}>
          {() => <Plain text={block.json} />}
        </Fold>
      );
  }
}

function UserText({ text }: { readonly text: string }) {
  const typed = typedCommand(text);
  if (typed === undefined) return <Markdown text={text} />;
  const { command, output } = typed;
  return (
    <>
      {command !== "" && (
        <div>
          <code dir="ltr">{command}</code>
        </div>
      )}
      {output !== "" && <Plain class="output" text={output} />}
      {command === "" && output === "" && <p class="about">no output</p>}
    </>
  );
}

function Call(props: BlockProps & { readonly block: BlockOf<"tool_use">; readonly name: string }) {
  const { block, name, results, model } = props;
  const json = inputTextOf(block);
  const input = parseInput(json);
  const known = results.get(block.id);
  const result = known ?? undefined;
  const state = result === undefined ? "open" : result.isError ? "failed" : "done";
  const agent = result === undefined ? undefined : agentOf(result, model);
  const folder = model.session.value?.origin.projectPath;
  return (
    <Fold
      name={name}
      class={`call ${state}`}
      line={
        <>
          <b>{block.name}</b>
          <code dir="ltr">{below(folder, callLine(input, json))}</code>
          <em>{state === "failed" ? "failed" : known === null ? "no result" : ""}</em>
        </>
      }
    >
      {() => (
        <>
          {agent !== undefined && (
            <p>
              <a href={sessionAddress(agent.id)}>Open the sub-agent’s session</a>
            </p>
          )}
          <CallInput input={input} json={json} />
          {result !== undefined && <Output block={result} />}
        </>
      )}
    </Fold>
  );
}

function CallInput(props: {
  readonly input: Readonly<Record<string, unknown>>;
  readonly json: string;
}) {
  const lines = editOf(props.input);
  if (lines === undefined) {
    return <Plain class="input" text={readable(props.input, props.json)} />;
  }
  return (
    <section class="diff" aria-label="Changed lines">
      {lines.slice(0, 2_000).map(({ sign, text }, at) => (
        <div key={at} class={sign === "+" ? "added" : sign === "-" ? "removed" : ""}>
          <span aria-hidden="true">{sign}</span>
          {text}
        </div>
      ))}
      {lines.length > 2_000 && <p>{counted(lines.length - 2_000, "more line")}</p>}
    </section>
  );
}

/** A result whose call is elsewhere. */
function Result({ name, block }: { readonly name: string; readonly block: ToolResult }) {
  const { output } = block;
  const text = typeof output === "string" ? output : output.map(textIn).join(" ");
  return (
    <Fold
      name={name}
      class={`call ${block.isError ? "failed" : "done"}`}
      line={
        <>
          <b>{block.toolName ?? "result"}</b>
          <code dir="ltr">{oneLine(text)}</code>
          <em>{block.isError ? "failed" : ""}</em>
        </>
      }
    >
      {() => <Output block={block} />}
    </Fold>
  );
}

/** Always plain text: tool output is not Markdown. */
function Output({ block }: { readonly block: ToolResult }) {
  const { output, isError } = block;
  if (typeof output === "string") {
    return <Plain class={isError ? "output failed" : "output"} text={output} />;
  }
  return (
    <>
      {output.map((part, at) =>
        part.type === "image" ? (
          <Image key={at} block={part} />
        ) : (
          <Plain key={at} class={isError ? "output failed" : "output"} text={textIn(part)} />
        ),
      )}
    </>
  );
}

function textIn(block: Block): string {
  if (block.type === "text" || block.type === "thinking") return block.text;
  if (block.type === "opaque") return block.json;
  return block.type === "tool_use" ? inputTextOf(block) : `[${block.type}]`;
}

const IMAGE = /^image\/(png|jpeg|gif|webp|avif|svg\+xml)$/;

function Image({ block }: { readonly block: BlockOf<"image"> }) {
  const { data, mediaType = "image/png", url } = block;
  if (data !== undefined && IMAGE.test(mediaType)) {
    return <img class="image" alt="In the conversation" src={`data:${mediaType};base64,${data}`} />;
  }
  return <p class="about">Image: {url === undefined ? mediaType : url.slice(0, 300)}</p>;
}

/** The session of the sub-agent that a result names. */
function agentOf(result: ToolResult, model: SessionModel) {
  const { output } = result;
  const text = typeof output === "string" ? output : output.map(textIn).join("\n");
  const id = /\bagentId:\s*([\w-]{4,64})/.exec(text)?.[1];
  if (id === undefined) return undefined;
  return model.subagents.value.find(
    ({ origin }) => origin.key?.includes(id) || origin.file?.includes(id),
  );
}

/**
 * The open folds by name. Kept outside of the rows, which are removed when they leave the view.
 */
const opened = signal<ReadonlySet<string>>(new Set());

function isOpen(name: string): boolean {
  return opened.value.has(name);
}

function toggle(name: string): void {
  const next = new Set(opened.peek());
  if (!next.delete(name)) next.add(name);
  opened.value = next;
}

/** One line that opens to more. */
export function Fold(props: {
  readonly name: string;
  readonly class?: string;
  readonly line: ComponentChildren;
  readonly children: () => ComponentChildren;
}) {
  const open = isOpen(props.name);
  return (
    <div class={`fold ${props.class ?? ""} ${open ? "open" : ""}`}>
      <button
        type="button"
        class="fold-line"
        aria-expanded={open}
        onClick={() => toggle(props.name)}
      >
        <span class="sign" aria-hidden="true">
          {open ? "▾" : "▸"}
        </span>
        {props.line}
      </button>
      {open && <div class="fold-body">{props.children()}</div>}
    </div>
  );
}

/** The text of a message, as Markdown or plain. */
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

function Plain(props: { readonly text: string; readonly class?: string }) {
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
