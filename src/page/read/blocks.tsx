/** The blocks of a message. */

import { inputTextOf } from "../../client/index.ts";
import { sessionAddress } from "../data/address.ts";
import type { Block, BlockOf, Entry } from "../data/types.ts";
import { below } from "../parts/call-words.ts";
import { counted } from "../parts/words.ts";
import { Fold } from "./fold.tsx";
import type { ToolResult } from "./message-pages.ts";
import type { SessionModel } from "./session-model.ts";
import { Markdown, Plain } from "./text.tsx";
import { callLine, editOf, oneLine, parseInput, readable } from "./tool-call.ts";
import { typedCommand } from "./typed-command.ts";

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
