/** The blocks of a message. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { inputTextOf } from "../../client/index.ts";
import { withoutInjected } from "../../search/document/injected.ts";
import { colour } from "../code/colour.ts";
import { sessionAddress } from "../data/address.ts";
import type { Block, BlockOf, Entry } from "../data/connection.ts";
import { loadMarkdown, MAX_MARKDOWN, showMarkdown } from "../markdown/markdown.ts";
import { below, counted, size, withoutAnsi } from "../parts/words.ts";
import { choose, chosenState } from "./folds.ts";
import type { FoundResult, ToolResult } from "./message-pages.ts";
import type { SessionModel } from "./session-model.ts";
import { lineCounts } from "./session-outline.ts";
import { callLine, editOf, oneLine, parseInput, readable, typedCommand } from "./tool-call.ts";

export interface BlockProps {
  readonly entry: Entry;
  readonly model: SessionModel;
  /** Results of the calls of this message, by the call's id: see `MessagePages.resultOf`. */
  readonly results: ReadonlyMap<string, FoundResult | null | undefined>;
  /** Whether its folds are open until the reader chooses: something in them was sought. */
  readonly isSought: boolean;
}

export function Blocks(props: BlockProps & { readonly blocks: readonly Block[] }) {
  const { blocks, entry, ...same } = props;
  return (
    <>
      {blocks.map((block, at) => (
        <OneBlock key={at} block={block} name={`${entry.id}:${at}`} entry={entry} {...same} />
      ))}
    </>
  );
}

function OneBlock(props: BlockProps & { readonly block: Block; readonly name: string }) {
  const { block, name } = props;
  switch (block.type) {
    case "text":
      return props.entry.role === "user" ? (
        <UserText text={block.text} name={name} />
      ) : (
        <Markdown text={block.text} />
      );
    case "thinking":
      return (
        <Fold
          name={name}
          class="thinking"
          open={props.isSought}
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
      return <Result name={name} block={block} open={props.isSought} />;
    case "image":
      return <Image block={block} />;
    case "opaque":
      return (
        <Fold name={name} line={<i>{opaqueWords(block.json)}</i>}>
          {() => <Plain text={block.json} />}
        </Fold>
      );
  }
}

function opaqueWords(json: string): string {
  return /"(?:encrypted_content|redacted_thinking)"/.test(json)
    ? "sealed reasoning"
    : "data of the provider";
}

/** What a person typed; what the agent put around it is folded. */
function UserText({ text, name }: { readonly text: string; readonly name: string }) {
  const typed = typedCommand(text);
  if (typed === undefined) {
    const removed: string[] = [];
    const said = withoutInjected(text, removed).trim();
    if (said === "" || removed.length === 0) return <Markdown text={text} />;
    return (
      <>
        <Markdown text={said} />
        <Fold name={`${name}:added`} line={<i>added by the agent</i>}>
          {() => <Plain text={removed.join("\n\n")} />}
        </Fold>
      </>
    );
  }
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
  const result = known?.block;
  const state = result === undefined ? "open" : result.isError ? "failed" : "done";
  const agent = result === undefined ? undefined : agentOf(result, model);
  const folder = model.session.value?.origin.projectPath;
  const lines = useMemo(() => editOf(input), [json]);
  const count = (sign: string) => lines?.filter((line) => line.sign === sign).length ?? 0;
  const changed = lineCounts({ added: count("+"), removed: count("-") });
  return (
    <Fold
      name={name}
      class={`call ${state}`}
      open={props.isSought || state === "failed"}
      line={
        <>
          <b>{block.name}</b>
          <code dir="ltr">{below(folder, callLine(input, json))}</code>
          {changed !== "" && state !== "failed" && <small>{changed}</small>}
          <em>{state === "failed" ? "failed" : known === null ? "no result" : ""}</em>
        </>
      }
    >
      {(isChosen) => (
        <>
          {agent !== undefined && (
            <p>
              <a href={sessionAddress(agent.id)}>Open the sub-agent’s session</a>
            </p>
          )}
          {(isChosen || props.isSought || result === undefined) && (
            <CallInput lines={lines} input={input} json={json} />
          )}
          {result !== undefined && (
            <Output
              block={result}
              isShort={state === "failed" && !isChosen && !props.isSought}
              showAll={() => choose(name, true)}
            />
          )}
        </>
      )}
    </Fold>
  );
}

/** The classes of changed lines, and what a screen reader says of them. */
const SIGNS = { "+": "added", "-": "removed", " ": "" } as const;

function CallInput(props: {
  readonly lines: ReturnType<typeof editOf>;
  readonly input: Readonly<Record<string, unknown>>;
  readonly json: string;
}) {
  const { lines } = props;
  if (lines === undefined) {
    return <Plain class="input" text={readable(props.input, props.json)} />;
  }
  return (
    <section class="diff" aria-label="Changed lines">
      {lines.slice(0, 2_000).map(({ sign, text, number }, at) => (
        <div key={at} class={SIGNS[sign]}>
          <i aria-hidden="true">{number}</i>
          {sign === " " ? (
            <span aria-hidden="true"> </span>
          ) : (
            <span role="img" aria-label={SIGNS[sign]}>
              {sign}
            </span>
          )}
          {text}
        </div>
      ))}
      {lines.length > 2_000 && <p>{counted(lines.length - 2_000, "more line")}</p>}
    </section>
  );
}

/** A result whose call is elsewhere. */
function Result(props: {
  readonly name: string;
  readonly block: ToolResult;
  readonly open: boolean;
}) {
  const { name, block, open } = props;
  return (
    <Fold
      name={name}
      open={open || block.isError}
      class={`call ${block.isError ? "failed" : "done"}`}
      line={
        <>
          <b>{block.toolName ?? "result"}</b>
          <code dir="ltr">{oneLine(textIn(block))}</code>
          <em>{block.isError ? "failed" : ""}</em>
        </>
      }
    >
      {() => <Output block={block} />}
    </Fold>
  );
}

/** Lines of a failure that are shown without being asked for. */
const SHORT = 8;

/** Always plain text: tool output is not Markdown. */
function Output(props: {
  readonly block: ToolResult;
  /** Shows a few lines of it alone. */
  readonly isShort?: boolean;
  readonly showAll?: () => void;
}) {
  const { output, isError } = props.block;
  if (typeof output === "string") {
    const name = isError ? "output failed" : "output";
    const lines = output.trim().split("\n");
    if (!props.isShort || lines.length <= SHORT + 1) return <Plain class={name} text={output} />;
    const [head, tail] = [lines.slice(0, SHORT / 2), lines.slice(-SHORT / 2)];
    return (
      <>
        <Plain class={name} text={[...head, "…", ...tail].join("\n")} />
        <button type="button" class="quiet" onClick={props.showAll}>
          Show all {counted(lines.length, "line")}
        </button>
      </>
    );
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

export function textIn(block: Block): string {
  switch (block.type) {
    case "text":
    case "thinking":
      return block.text;
    case "opaque":
      return block.json;
    case "tool_use":
      return inputTextOf(block);
    case "tool_result":
      return typeof block.output === "string" ? block.output : block.output.map(textIn).join("\n");
    case "image":
      return "[image]";
  }
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
  const id = /\bagentId:\s*([\w-]{4,64})/.exec(textIn(result))?.[1];
  if (id === undefined) return undefined;
  return model.subagents.value.find(
    ({ origin }) => origin.key?.includes(id) || origin.file?.includes(id),
  );
}

/** One line that opens to more. */
export function Fold(props: {
  readonly name: string;
  readonly class?: string;
  readonly line: ComponentChildren;
  /** Whether it is open until the reader chooses. */
  readonly open?: boolean;
  /** Receives whether the reader opened it. */
  readonly children: (isChosen: boolean) => ComponentChildren;
}) {
  const state = chosenState(props.name);
  const open = state ?? props.open ?? false;
  return (
    <div class={`fold ${props.class ?? ""} ${open ? "open" : ""}`}>
      <button
        type="button"
        class="fold-line"
        aria-expanded={open}
        onClick={() => choose(props.name, !open)}
      >
        <span class="sign" aria-hidden="true">
          {open ? "▾" : "▸"}
        </span>
        {props.line}
      </button>
      {open && <div class="fold-body">{props.children(state === true)}</div>}
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
