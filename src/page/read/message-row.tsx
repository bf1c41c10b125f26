/** One message of a session, with the compaction before it if one ends there. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { sessionAddress } from "../data/address.ts";
import { type Entry, mayWrite, type Summary, tell } from "../data/connection.ts";
import { Copy, setTo, Toggle } from "../parts/controls.tsx";
import { MarkNote } from "../parts/marks.tsx";
import { clock, counted, day, moment } from "../parts/words.ts";
import { type BlockProps, Blocks, Fold, Markdown } from "./blocks.tsx";
import { MarkForm } from "./mark-form.tsx";
import type { SessionModel } from "./session-model.ts";

/** A result is shown with its call alone if the call is at most so many messages before it. */
const NEAR = 16;

/** A message of these blocks alone has no heading. */
const FOLDED: ReadonlySet<string> = new Set(["tool_use", "thinking"]);

export function MessageRow(props: {
  readonly model: SessionModel;
  readonly index: number;
  /** The id of the message to mark. The message of this row may arrive later. */
  readonly target: string;
}) {
  const { model, index, target } = props;
  void model.pages.version.value;
  const total = model.pages.total.value;
  const entry = index < total ? model.pages.get(index) : model.pending.value[index - total];
  const summaries = model.compactions.value.get(index) ?? [];
  if (entry === undefined) return <div class="message coming" aria-busy="true" />;
  const before = model.pages.get(index - 1);
  const isNewDay = before === undefined || day(before.createdAt) !== day(entry.createdAt);
  return (
    <>
      {summaries.map((summary) => (
        <Compaction key={summary.id} summary={summary} model={model} />
      ))}
      {isAbsorbed(model, index, entry) ? null : (
        <>
          {(isNewDay || index === 0) && <p class="new-day">{moment(entry.createdAt)}</p>}
          <Message
            key={entry.id}
            entry={entry}
            model={model}
            index={index}
            isTarget={entry.id === target}
          />
        </>
      )}
    </>
  );
}

function Message(props: {
  readonly entry: Entry;
  readonly model: SessionModel;
  readonly index: number;
  readonly isTarget: boolean;
}) {
  const { model, index, isTarget } = props;
  const whole = useSignal<Entry | undefined>(undefined);
  const failure = useSignal("");
  const entry = whole.value ?? props.entry;
  const load = async () => {
    try {
      whole.value = await model.engine.getEntry(entry.id);
    } catch (error) {
      failure.value = tell(error);
    }
  };
  useEffect(() => {
    // A truncated image cannot be decoded, and the preview of very many blocks is empty.
    const { truncated, blocks } = props.entry;
    const tellsNothing = blocks.length === 0 || blocks.some(({ type }) => type === "image");
    if (truncated && tellsNothing) void load();
  }, [props.entry.id]);
  const shows = useSignal<"" | "mark">("");
  const mark = model.marks.value.find(({ entryId }) => entryId === entry.id);
  const isPending = entry.status === "pending";
  const isTool = entry.role === "tool" || entry.blocks.every(({ type }) => FOLDED.has(type));
  const link = `${location.origin}${location.pathname}${sessionAddress(model.id, { m: entry.id })}`;
  const author = authorOf(entry);
  return (
    <article
      class={`message ${entry.role ?? ""} ${isTool ? "bare" : ""} ${isTarget ? "target" : ""}`}
      tabIndex={-1}
      data-item
      data-entry={entry.id}
      aria-posinset={index + 1}
      aria-setsize={model.pages.total.value}
      aria-label={`${author}, ${moment(entry.createdAt)}`}
      aria-busy={isPending}
    >
      <header>
        <b dir="auto" title={author}>
          {undated(author)}
        </b>
        <span class="when">
          <a href={sessionAddress(model.id, { m: entry.id })} title={moment(entry.createdAt)}>
            {clock(entry.createdAt)}
          </a>{" "}
          <span title={`Message ${index} of the session`}>#{index}</span>
        </span>
        {entry.supersededBy !== null && <span class="tag">edited since</span>}
        {mark !== undefined && <MarkNote mark={mark} from={model.id} />}
        {entry.pinned && <span class="tag">pinned</span>}
        {isPending && <span class="tag live">is being written</span>}
        <Copy label="Link" title="Copy a link to this message (c)" text={() => link} />
        {mayWrite.value && !isPending && (
          <Toggle shows={shows} what="mark" class="quiet">
            Mark
          </Toggle>
        )}
      </header>
      <div class="content">
        {shows.value === "mark" && (
          <MarkForm model={model} entryId={entry.id} mark={mark} onDone={setTo(shows, "")} />
        )}
        {entry.erased ? (
          <p class="about">The content was erased by the retention of this session.</p>
        ) : (
          <Blocks
            blocks={entry.blocks}
            entry={entry}
            model={model}
            results={resultsOf(model, index, entry)}
          />
        )}
        {entry.truncated && failure.value === "" && (
          <button type="button" onClick={() => void load()}>
            Load the whole message
          </button>
        )}
        {failure.value !== "" && <p class="failure">{failure.value}</p>}
      </div>
    </article>
  );
}

function authorOf(entry: Entry): string {
  const { role, actor, model } = entry;
  if (role === "assistant") return model ?? actor ?? "assistant";
  return actor ?? role ?? "";
}

/** A model's name without its release date. */
function undated(author: string): string {
  return author.replace(/-20\d{6}$/, "");
}

/** A line that opens to the summary and links to the covered messages. */
function Compaction(props: { readonly summary: Summary; readonly model: SessionModel }) {
  const { summary, model } = props;
  return (
    <Fold
      name={summary.id}
      class="compaction"
      line={
        <>
          <b>Compacted here</b>
          <span>
            {moment(summary.createdAt)} · the agent continued with a summary of{" "}
            {counted(summary.tokens, "token")} {summary.stale && " · edited since"}
          </span>
        </>
      }
    >
      {() => (
        <>
          <p class="about">
            The summary covers the messages from{" "}
            <a href={sessionAddress(model.id, { m: summary.from })}>the first</a> to{" "}
            <a href={sessionAddress(model.id, { m: summary.through })}>the last</a> before this line
            {summary.model !== null && <>; written by {summary.model}</>}.
          </p>
          <Markdown text={summary.text} />
        </>
      )}
    </Fold>
  );
}

/** Results of the calls of a message: null if there is none, undefined while it is unknown. */
function resultsOf(model: SessionModel, index: number, { blocks }: Entry): BlockProps["results"] {
  const calls = blocks.filter((block) => block.type === "tool_use");
  return new Map(calls.map(({ id }) => [id, model.pages.resultOf(id, index)]));
}

/** Whether a message has only results that are shown with their calls. */
function isAbsorbed(model: SessionModel, index: number, { blocks }: Entry): boolean {
  if (blocks.length === 0 || !blocks.every(({ type }) => type === "tool_result")) return false;
  return blocks.every((block) => {
    if (block.type !== "tool_result") return false;
    for (let at = index - 1; at >= Math.max(0, index - NEAR); at--) {
      const calls = model.pages.get(at)?.blocks ?? [];
      if (calls.some((call) => call.type === "tool_use" && call.id === block.toolUseId))
        return true;
    }
    return false;
  });
}
