/** Tokens by kind, and cost, by day, model, agent and project. */

import { useSignal, useSignalEffect } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import { totalTokens } from "../../client/index.ts";
import { projectName } from "../../model/display.ts";
import { format, go, param, sessionAddress } from "../data/address.ts";
import { engine, Latest, type Stats, type Sum } from "../data/connection.ts";
import { DayRange } from "../find/chips.tsx";
import { PERIODS, periodOf } from "../find/periods.ts";
import { Failure, put, setTo, Table, Tile } from "../parts/controls.tsx";
import { age, counted, distinctEnds, dollars, short, whole } from "../parts/words.ts";
import { type DayValue, fillDays, ticksOf } from "./day-axis.ts";

export function Usage() {
  const latest = useRef(new Latest());
  const stats = useSignal<Stats | undefined>(undefined);
  const failure = useSignal("");
  useSignalEffect(() => {
    const period = periodOf(param("since"));
    put(
      latest.current.run(() => engine.peek().stats(period)),
      stats,
      failure,
    );
  });
  return (
    <main class="view">
      <div class="view-head">
        <h1>Usage</h1>
        <Periods />
      </div>
      <Failure text={failure.value} />
      {stats.value?.total.sessions === 0 ? (
        <p class="empty">No session was written to in this time.</p>
      ) : (
        <>
          {stats.value !== undefined && <Figures stats={stats.value} />}
          <Troubles />
        </>
      )}
    </main>
  );
}

function Periods() {
  const chosen = param("since");
  const choose = (since: string) => go(format("usage", "", { since }));
  return (
    <fieldset class="chips" aria-label="Time">
      {[["", "all time"] as const, ...PERIODS].map(([key, words]) => (
        <Choice key={key} words={words} isChosen={key === chosen} choose={() => choose(key)} />
      ))}
      <DayRange value={chosen} pick={(range) => choose(range ?? "")} />
    </fieldset>
  );
}

function Choice(props: {
  readonly words: string;
  readonly isChosen: boolean;
  readonly choose: () => void;
}) {
  const { words, isChosen, choose } = props;
  return (
    <button
      type="button"
      class={isChosen ? "chip chosen-one" : "chip"}
      aria-pressed={isChosen}
      onClick={choose}
    >
      {words}
    </button>
  );
}

type Measure = "cost" | "tokens" | "sessions";

const MEASURES: Readonly<
  Record<Measure, { readonly words: string; of(sum: Sum): number; show(value: number): string }>
> = {
  cost: { words: "Cost", of: (sum) => sum.costMicroUsd, show: dollars },
  tokens: { words: "Tokens", of: ({ tokens }) => totalTokens(tokens), show: short },
  sessions: { words: "Sessions", of: (sum) => sum.sessions, show: short },
};

function Figures({ stats }: { readonly stats: Stats }) {
  const { total } = stats;
  const measure = useSignal<Measure>(total.costMicroUsd > 0 ? "cost" : "tokens");
  const { of, show, words } = MEASURES[measure.value];
  const days = useMemo(
    () => [...stats.days].map(([day, sum]) => ({ day, value: of(sum) })),
    [stats, measure.value],
  );
  const projects = useMemo(() => distinctEnds([...stats.projects.keys()]), [stats]);
  const { inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens } = total.tokens;
  return (
    <>
      <dl class="tiles">
        <Tile name="Cost" value={dollars(total.costMicroUsd)} note="by list prices" />
        <Tile
          name="Sessions"
          value={whole(total.sessions)}
          note={total.subagents === 0 ? "" : `and ${counted(total.subagents, "sub-agent")}`}
        />
        <Tile name="Messages" value={short(total.messages)} />
        <Tile name="Input" value={short(inputTokens)} note="tokens" />
        <Tile name="Output" value={short(outputTokens)} note="tokens" />
        <Tile name="Cache written" value={short(cacheCreationTokens)} note="tokens" />
        <Tile name="Cache read" value={short(cacheReadTokens)} note="tokens" />
      </dl>
      {stats.prices.unknown.length > 0 && (
        <p class="remark">
          Without a known price, and so not in the cost:{" "}
          {stats.prices.unknown.map((model, at) => (
            <span key={model}>
              {at > 0 && ", "}
              <bdi>{model}</bdi>
            </span>
          ))}
          .
        </p>
      )}
      <section>
        <div class="section-head">
          <h2>By day</h2>
          <fieldset class="chips" aria-label="Measure">
            {(Object.keys(MEASURES) as Measure[]).map((name) => (
              <Choice
                key={name}
                words={MEASURES[name].words}
                isChosen={name === measure.value}
                choose={setTo(measure, name)}
              />
            ))}
          </fieldset>
        </div>
        <DayChart label={`${words} by day`} days={days} format={show} />
        <details>
          <summary>As a table</summary>
          <Sums sums={[...stats.days].sort().reverse()} name="Day" />
        </details>
      </section>
      <div class="columns">
        <div>
          <section>
            <h2>By model</h2>
            <Sums
              sums={bySize(stats.models)}
              name="Model"
              link={(model) => format("find", "", { model })}
            />
          </section>
          <section>
            <h2>By agent</h2>
            <Sums
              sums={bySize(stats.agents)}
              name="Agent"
              link={(agent) => format("find", "", { agent })}
            />
          </section>
        </div>
        <section>
          <h2>By project</h2>
          <Sums
            sums={bySize(stats.projects)}
            name="Project"
            link={(project) => format("find", "", { project })}
            show={(project) => projects.get(project) ?? project}
          />
        </section>
      </div>
    </>
  );
}

const ROWS = 12;

function Sums(props: {
  readonly sums: readonly (readonly [string, Sum])[];
  readonly name: string;
  readonly link?: (value: string) => string;
  /** Shortens a value for the table; the title attribute has all of it. */
  readonly show?: (value: string) => string;
}) {
  const { sums, name, link, show = (value) => value } = props;
  const showsAll = useSignal(false);
  const shown = showsAll.value ? sums : sums.slice(0, ROWS);
  return (
    <div class="table">
      <Table heads={[name, "Sessions", "Tokens", "Cost"]}>
        {shown.map(([value, sum]) => (
          <tr key={value}>
            <th scope="row" dir="auto" title={value}>
              {link === undefined || value === "" ? (
                show(value) || "none"
              ) : (
                <a href={link(value)}>{show(value)}</a>
              )}
            </th>
            <td>{whole(sum.sessions)}</td>
            <td>{short(totalTokens(sum.tokens))}</td>
            <td>{dollars(sum.costMicroUsd)}</td>
          </tr>
        ))}
      </Table>
      {sums.length > ROWS && !showsAll.value && (
        <button type="button" class="quiet" onClick={setTo(showsAll, true)}>
          Show all {sums.length}
        </button>
      )}
    </div>
  );
}

function bySize(sums: ReadonlyMap<string, Sum>): readonly (readonly [string, Sum])[] {
  return [...sums].sort(
    ([, one], [, other]) =>
      other.costMicroUsd - one.costMicroUsd || totalTokens(other.tokens) - totalTokens(one.tokens),
  );
}

// A chart of usage by day: bars of the style sheet, and a table below as its text alternative. It formats
// no date or number by the browser's language, whose tag may be invalid (`en-US@posix`).

/** The limit of days with a label below the chart. */
const MAX_LABELS = 6;

function DayChart(props: {
  readonly label: string;
  readonly days: readonly DayValue[];
  readonly format: (value: number) => string;
}) {
  const { label, days, format } = props;
  const filled = fillDays(days);
  const ticks = ticksOf(Math.max(0, ...filled.map(({ value }) => value)));
  const top = ticks.at(-1) ?? 1;
  const percent = (value: number) => `${(100 * value) / top}%`;
  const labelled = Math.ceil(filled.length / MAX_LABELS);
  return (
    <div class="chart" role="img" aria-label={`${label}; the table below has the figures`}>
      {ticks.map((tick) => (
        <span key={tick} class="tick" style={{ bottom: percent(tick) }}>
          {format(tick)}
        </span>
      ))}
      <div class="days">
        {filled.map(({ day, value }, at) => (
          <div key={day} title={`${day}: ${format(value)}`}>
            <i style={{ height: percent(value) }} />
            {at % labelled === 0 && <small>{day.slice(5)}</small>}
          </div>
        ))}
      </div>
    </div>
  );
}

// Failures among the newest sessions, and the tools and files that those sessions used.

type Review = Awaited<ReturnType<ReturnType<typeof engine.peek>["review"]>>;
type SessionReview = Review["sessions"][number];

/** The server's limit of sessions in one review. */
const REVIEWED = 50;

function Troubles() {
  const latest = useRef(new Latest());
  const review = useSignal<Review | undefined>(undefined);
  const failure = useSignal("");
  useSignalEffect(() => {
    const input = { limit: REVIEWED, ...periodOf(param("since")) };
    put(
      latest.current.run(() => engine.peek().review(input)),
      review,
      failure,
    );
  });
  if (failure.value !== "") return <Failure text={failure.value} />;
  if (review.value === undefined) return <p class="about">Reading the newest sessions …</p>;
  const { sessions, tools, files } = review.value;
  const bad = sessions.filter(isBad).toSorted((one, other) => other.failed - one.failed);
  return (
    <>
      <section>
        <h2>Failures in the newest {sessions.length} sessions</h2>
        {bad.length === 0 ? (
          <p class="about">No call failed, and nothing was left unfinished.</p>
        ) : (
          <div class="table told">
            <Table heads={["Session", "Failed", "Retries", "Ends with"]}>
              {bad.slice(0, ROWS).map((one) => (
                <Trouble key={one.session.id} review={one} />
              ))}
            </Table>
          </div>
        )}
      </section>
      <div class="columns">
        <section>
          <h2>Tools</h2>
          <div class="table">
            <Table heads={["Tool", "Calls", "Failed"]}>
              {tools.slice(0, ROWS).map(({ tool, calls, failed }) => (
                <tr key={tool}>
                  <th scope="row">{tool}</th>
                  <td>{short(calls)}</td>
                  <td>{whole(failed)}</td>
                </tr>
              ))}
            </Table>
          </div>
        </section>
        <section>
          <h2>Changed files</h2>
          <div class="table">
            <Table heads={["File", "Times"]}>
              {files.slice(0, ROWS).map(({ path, times }) => (
                <tr key={path}>
                  <th scope="row" title={path}>
                    {path.split("/").slice(-3).join("/")}
                  </th>
                  <td>{whole(times)}</td>
                </tr>
              ))}
            </Table>
          </div>
        </section>
      </div>
    </>
  );
}

function isBad({ failed, unfinished }: SessionReview): boolean {
  return failed > 0 || unfinished !== null;
}

function Trouble({ review }: { readonly review: SessionReview }) {
  const { session, failed, calls, retries, unfinished } = review;
  const { projectPath } = session.origin;
  return (
    <tr>
      <th scope="row" dir="auto">
        <a href={sessionAddress(session.id)}>
          {session.title === "" ? session.shortId : session.title}
        </a>{" "}
        <span class="about">
          {projectPath !== undefined && projectName(projectPath)} · {age(session.updatedAt)}
        </span>
      </th>
      <td data-name="Failed" title={counted(calls, "call")}>
        {whole(failed)}
      </td>
      <td data-name="Retries">{whole(retries)}</td>
      <td data-name="Ends with">{unfinished === null ? "an answer" : `an open ${unfinished}`}</td>
    </tr>
  );
}
