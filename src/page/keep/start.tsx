/** The first view beside the list: what agents did today and yesterday, its cost, what they were told, what left. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { totalTokens } from "../../client/index.ts";
import { format } from "../data/address.ts";
import { connection, engine, type Stats, tell } from "../data/connection.ts";
import { known } from "../find/search.ts";
import { listed, outcomes } from "../find/session-list.ts";
import { Failure, Table } from "../parts/controls.tsx";
import { counted, day, dollars, moment, short } from "../parts/words.ts";
import { type Injection, readInjections } from "./unasked.tsx";

type Shares = Awaited<ReturnType<ReturnType<typeof engine.peek>["shares"]["list"]>>;

/** What the store knows of places outside of this machine. */
interface Outside {
  /** Undefined for callers who may not list them. */
  readonly shares: Shares | undefined;
  /** Its database, if that is on another machine; only operators may know. */
  readonly database: string | undefined;
  /** The model that made its vectors; what it was given had its secrets masked. */
  readonly embedder: string | undefined;
}

interface Told {
  readonly today: Stats;
  readonly yesterday: Stats;
  readonly said: readonly Injection[];
  readonly outside: Outside;
}

export function Start() {
  const told = useSignal<Told | undefined>(undefined);
  const failure = useSignal("");
  useEffect(() => {
    read().then(
      (value) => {
        told.value = value;
      },
      (error) => {
        failure.value = tell(error);
      },
    );
    // The list is read again when sessions change.
  }, [listed.value]);
  if (told.value === undefined) {
    return (
      <main class="start">
        <Failure text={failure.value} />
      </main>
    );
  }
  const { today, yesterday, said, outside } = told.value;
  return (
    <main class="start">
      <Day name="Today" stats={today} at={Date.now()} />
      <Day name="Yesterday" stats={yesterday} at={startOfDay() - 1} />
      <Passed said={said} />
      <Left outside={outside} />
    </main>
  );
}

async function read(): Promise<Told> {
  const start = startOfDay();
  const before = startOfDay(start - 1);
  const [today, yesterday, said, outside] = await Promise.all([
    engine.peek().stats({ since: start }),
    engine.peek().stats({ since: before, until: start }),
    readInjections(),
    readOutside(),
  ]);
  return { today, yesterday, said: said.filter(({ at }) => at >= start), outside };
}

async function readOutside(): Promise<Outside> {
  const state = connection.peek();
  const isOperator = state.kind === "open" && state.engine.access.operator;
  const [shares, tenant, store] = await Promise.all([
    engine
      .peek()
      .shares.list()
      .catch(() => undefined),
    engine.peek().tenantStatus(),
    isOperator ? engine.peek().status() : undefined,
  ]);
  const isElsewhere = store?.backend === "postgres" && !HERE.test(store.address);
  return {
    shares: shares?.filter(({ expiresAt }) => expiresAt === null || expiresAt > Date.now()),
    database: isElsewhere ? store.address : undefined,
    embedder: tenant?.index.vectors?.embedder,
  };
}

/** An address of a database on this machine: by name, by number or by a socket. */
const HERE = /^\w+:\/\/(?:[^@/]*@)?(?:localhost|127\.[\d.]+|\[::1\])?(?::\d+)?(?:[/?]|$)/;

function startOfDay(time: number = Date.now()): number {
  return new Date(time).setHours(0, 0, 0, 0);
}

function Day(props: { readonly name: string; readonly stats: Stats; readonly at: number }) {
  const { name, stats, at } = props;
  const { total, agents } = stats;
  return (
    <section>
      <div class="section-head">
        <h2>{name}</h2>
        {total.sessions > 0 && (
          <a class="about" href={format("usage", "", { since: `${day(at)}..${day(at)}` })}>
            {dollars(total.costMicroUsd)} by list prices · {counted(agents.size, "agent")}
          </a>
        )}
      </div>
      {total.sessions === 0 ? (
        <p class="about">No agent was at work.</p>
      ) : (
        <div class="table">
          <Table heads={["Agent", "Sessions", "Ended", "Tokens", "Cost"]}>
            {[...agents].map(([agent, sum]) => (
              <tr key={agent}>
                <th scope="row">
                  <a href={format("find", "", { agent, since: `${day(at)}..${day(at)}` })}>
                    <bdi>{agent}</bdi>
                  </a>
                </th>
                <td>
                  {sum.sessions}
                  {sum.subagents > 0 && ` + ${sum.subagents}`}
                </td>
                <td class="words">{endings(agent, day(at))}</td>
                <td>{short(totalTokens(sum.tokens))}</td>
                <td>{dollars(sum.costMicroUsd)}</td>
              </tr>
            ))}
          </Table>
        </div>
      )}
    </section>
  );
}

/** `2 committed, 1 unfinished`: of the listed sessions of an agent on a day. */
function endings(agent: string, on: string): string {
  const words = listed.value.sessions
    .filter((session) => session.agent === agent && day(session.lastInteractionAt) === on)
    .flatMap(({ id }) => outcomes.value.get(id)?.word ?? []);
  return [...Map.groupBy(words, (word) => word)]
    .map(([word, all]) => `${all.length} ${word}`)
    .join(", ");
}

function Passed({ said }: { readonly said: readonly Injection[] }) {
  const passed = said.filter((one) => one.said);
  const used = passed.filter((one) => one.used).length;
  return (
    <section>
      <h2>Told to agents</h2>
      <p class="about">
        {passed.length === 0
          ? "No memory was passed to an agent today. "
          : `${counted(passed.length, "memory", "memories")} passed to agents today, ${used} used. `}
        <a href={format("memory", "", {})}>All of them</a>
      </p>
    </section>
  );
}

function Left({ outside }: { readonly outside: Outside }) {
  const { shares, database, embedder } = outside;
  return (
    <section>
      <h2>Left this machine</h2>
      <ul class="notes about">
        {database !== undefined && (
          <li>
            Everything: the store is at <code>{database}</code>
          </li>
        )}
        {embedder !== undefined && (
          <li>
            Vectors are made by <code>{embedder}</code>, wherever it runs: it is given messages and
            queries, without their secrets
          </li>
        )}
        {shares?.map(({ id, sessionId, expiresAt }) => (
          <li key={id}>
            A link to{" "}
            <a href={format("session", sessionId, {})} dir="auto">
              {known.value.get(sessionId)?.title || "a session"}
            </a>
            {expiresAt !== null && `, open until ${moment(expiresAt)}`}
          </li>
        ))}
        {shares?.length === 0 && <li>No link to a session is open.</li>}
      </ul>
      <p class="about">
        Exports and copies of the store are not recorded. <code>backscroll trust</code> lists whom
        this machine gives content to.
      </p>
    </section>
  );
}
