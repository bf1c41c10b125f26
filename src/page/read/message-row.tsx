/** One message of a session, with the compaction before it if one ends there. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { sessionAddress } from "../data/address.ts";
import { type Entry, mayWrite, type Summary, tell } from "../data/connection.ts";
import { Copy, setTo, Toggle } from "../parts/controls.tsx";
import { MarkNote } from "../parts/marks.tsx";
import { clock, counted, day, moment } from "../parts/words.ts";
import { Blocks, Fold, Markdown } from "./blocks.tsx";
import { choose, chosenState } from "./folds.ts";
import { MarkForm } from "./mark-form.tsx";
import type { FoundResult } from "./message-pages.ts";
import { isFolded, type Run, rowKind } from "./runs.ts";
import type { SessionModel } from "./session-model.ts";
import { callCounts, callsIn } from "./session-outline.ts";

/** The first prompt is one of these messages: it is read whole. */
const FIRST_PROMPT = 10;

/** A message of these blocks alone has no heading. */
const FOLDED: ReadonlySet<string> = new Set(["tool_use", "tool_result", "thinking", "opaque"]);

export interface RowProps {
  readonly model: SessionModel;
  readonly index: number;
  /** The id of the message to mark. The message of this row may arrive later. */
  readonly target: string;
}

/** The message of a row, stored or pending, once it has arrived. */
export function entryAt(model: SessionModel, index: number): Entry | undefined {
  const total = model.pages.total.value;
  return index < total ? model.pages.get(index) : model.pending.value[index - total];
}

export function MessageRow({ model, index, target }: RowProps) {
  const version = model.pages.version.value;
  const isStored = index < model.pages.total.value;
  const entry = entryAt(model, index);
  const summaries = model.compactions.value.get(index) ?? [];
  if (entry === undefined) return <div class="message coming" aria-busy="true" />;
  const run = isStored ? model.runs.of(index, version) : undefined;
  const foldedRun = run !== undefined && isFoldedNow(model, run) ? run : undefined;
  const opens = foldedRun?.first === index;
  const isTarget = entry.id === target;
  const results = resultsOf(model, index, entry);
  const isSought = soughtIn(model, index, results);
  const isShown =
    isTarget ||
    isSought ||
    (run === undefined
      ? true
      : !isAbsorbed(model, index, entry) &&
        (foldedRun === undefined || isRunOpen(model, run) || hasFailed(entry, results)) &&
        rowKind(entry) !== "blank");
  return (
    <>
      {summaries.map((summary) => (
        <Compaction key={summary.id} summary={summary} model={model} />
      ))}
      {model.lastSeen === index && index > 0 && <p class="last-seen">Last seen here</p>}
      {(isShown || opens) && isNewDay(model, index, entry) && (
        <p class="new-day">{moment(entry.createdAt)}</p>
      )}
      {opens && <RunLine model={model} run={foldedRun} />}
      {isShown && (
        <Message
          key={entry.id}
          entry={entry}
          model={model}
          index={index}
          isTarget={isTarget}
          isSought={isSought || isTarget}
          results={results}
        />
      )}
    </>
  );
}

/** The name of a run's fold: that of its first message. */
function nameOf(model: SessionModel, { first }: Run): string {
  return `run:${model.pages.get(first)?.id}`;
}

function isRunOpen(model: SessionModel, run: Run): boolean {
  return chosenState(nameOf(model, run)) === true;
}

/** What an agent does right now is shown as it happens. */
function isFoldedNow(model: SessionModel, run: Run): boolean {
  return isFolded(run) && !(run.last === model.pages.total.value - 1 && model.isBeingWritten);
}

type Results = ReadonlyMap<string, FoundResult | null | undefined>;

/** Whether the text that is sought in the session is in the message, or in a result shown with it. */
function soughtIn(model: SessionModel, index: number, results: Results): boolean {
  const { matches } = model.sought.value;
  if (matches.size === 0) return false;
  if (matches.has(index)) return true;
  return [...results.values()].some((result) => result != null && matches.has(result.index));
}

function hasFailed({ blocks }: Entry, results: Results): boolean {
  return (
    blocks.some((block) => block.type === "tool_result" && block.isError) ||
    [...results.values()].some((result) => result?.block.isError === true)
  );
}

/** Whether it is of another day than the row before it, which may be the line of a run. */
function isNewDay(model: SessionModel, index: number, entry: Entry): boolean {
  const run = model.runs.of(index - 1, model.pages.version.value);
  const before = model.pages.get(run !== undefined && isFolded(run) ? run.first : index - 1);
  return before === undefined || day(before.createdAt) !== day(entry.createdAt);
}

/** The line of a run: what an agent did until it spoke again. */
function RunLine({ model, run }: { readonly model: SessionModel; readonly run: Run }) {
  const outline = model.outline.value.value;
  const calls =
    outline === undefined || outline.end <= run.last
      ? undefined
      : callsIn(outline, run.first, run.last);
  const failed = calls?.filter((call) => call.failed).length ?? 0;
  const name = nameOf(model, run);
  const isOpen = chosenState(name) === true;
  const words = [
    run.notes === 0
      ? ""
      : run.first === 0
        ? "instructions"
        : counted(run.notes, "note of the agent", "notes of the agent"),
    calls === undefined ? (run.calls === 0 ? "" : counted(run.calls, "call")) : callCounts(calls),
  ];
  return (
    <article
      class="message bare run"
      tabIndex={-1}
      data-item
      data-entry={model.pages.get(run.first)?.id}
      aria-posinset={run.first + 1}
      aria-setsize={model.pages.total.value}
      aria-label={`Messages ${run.first} to ${run.last}`}
    >
      <header />
      <div class="content">
        <button
          type="button"
          class="fold-line"
          aria-expanded={isOpen}
          onClick={() => choose(name, !isOpen)}
        >
          <span class="sign" aria-hidden="true">
            {isOpen ? "▾" : "▸"}
          </span>
          <span>{words.filter(Boolean).join(", ") || "thoughts"}</span>
          {failed > 0 && <em class="failed">{failed} failed</em>}
        </button>
      </div>
    </article>
  );
}

function Message(props: {
  readonly entry: Entry;
  readonly model: SessionModel;
  readonly index: number;
  readonly isTarget: boolean;
  readonly isSought: boolean;
  readonly results: Results;
}) {
  const { model, index, isTarget, results } = props;
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
    const isFirstPrompt = props.entry.role === "user" && index < FIRST_PROMPT;
    if (truncated && (tellsNothing || isFirstPrompt)) void load();
  }, [props.entry.id]);
  // A call and its result are shown together, also if pages are between them.
  useEffect(() => {
    if ([...results.values()].includes(undefined)) model.pages.seek(index, 1);
    if (entry.blocks.some((block) => block.type === "tool_result")) model.pages.seek(index, -1);
  }, [model.pages.version.value]);
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
        <span class="doing">
          <Copy label="Link" title="Copy a link to this message (c)" text={() => link} />
          {mayWrite.value && !isPending && (
            <Toggle shows={shows} what="mark" class="quiet">
              Mark
            </Toggle>
          )}
        </span>
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
            results={results}
            isSought={props.isSought}
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
function resultsOf(model: SessionModel, index: number, { blocks }: Entry): Results {
  const calls = blocks.filter((block) => block.type === "tool_use");
  return new Map(calls.map(({ id }) => [id, model.pages.resultOf(id, index)]));
}

/** Whether a message has only results that are shown with their calls. */
function isAbsorbed(model: SessionModel, index: number, { blocks }: Entry): boolean {
  return (
    blocks.length > 0 &&
    blocks.every(
      (block) =>
        block.type === "tool_result" && model.pages.callOf(block.toolUseId, index) !== undefined,
    )
  );
}
