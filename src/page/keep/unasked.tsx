/** What memory said to agents unasked, and what it only noted down, with a no for each. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { sessionAddress } from "../data/address.ts";
import { engine, mayWrite, tell } from "../data/connection.ts";
import { Failure } from "../parts/controls.tsx";
import { age, moment } from "../parts/words.ts";

const NAMESPACE = "backscroll-unasked";
const SHOWN = 50;

/** As the log keeps it. */
export interface Injection {
  readonly at: number;
  readonly moment: "prompt" | "error" | "file" | "start";
  readonly agent: string;
  readonly cwd: string;
  readonly text: string;
  readonly hit: { readonly sessionId: string; readonly shortId: string; readonly index: number };
  readonly said: boolean;
  readonly used: boolean;
  readonly unwanted: boolean;
}

interface Logged {
  readonly key: string;
  readonly value: Injection;
}

const WHY: Readonly<Record<Injection["moment"], string>> = {
  prompt: "a prompt that was answered before",
  error: "a command that failed before",
  file: "a file about which something was decided",
  start: "a session that began",
};

/** The newest of the log. */
async function readLog(): Promise<readonly Logged[]> {
  const { records } = await engine
    .peek()
    .records.list({ namespace: NAMESPACE, limit: SHOWN, values: true });
  return records.map(({ key, value }) => ({ key, value: value as unknown as Injection }));
}

export async function readInjections(): Promise<readonly Injection[]> {
  return (await readLog()).map(({ value }) => value);
}

export function Unasked() {
  const log = useSignal<readonly Logged[] | undefined>(undefined);
  const failure = useSignal("");
  const act = async (work?: () => Promise<unknown>) => {
    try {
      failure.value = "";
      await work?.();
      log.value = await readLog();
    } catch (error) {
      failure.value = tell(error);
    }
  };
  useEffect(() => void act(), []);
  return (
    <section>
      <h2>Said unasked</h2>
      <p class="about">What memory passed to your agents, or would have, where it was sure.</p>
      <Failure text={failure.value} alert />
      {log.value?.length === 0 && <p class="about">Nothing yet.</p>}
      <ul class="notes">
        {log.value?.map((each) => (
          <Said key={each.key} logged={each} act={act} />
        ))}
      </ul>
    </section>
  );
}

interface SaidInput {
  readonly logged: Logged;
  readonly act: (work: () => Promise<unknown>) => Promise<void>;
}

function Said({ logged: { key, value }, act }: SaidInput) {
  const { at, agent, cwd, text, hit } = value;
  const lines = text.split("\n").slice(1, -1);
  const end = value.unwanted ? "not again" : value.used ? "used" : value.said ? "said" : "noted";
  const refuse = () =>
    engine.peek().records.put({
      namespace: NAMESPACE,
      key,
      value: { ...value, hit: { ...hit }, unwanted: true },
    });
  return (
    <li>
      <div class="note-head">
        <span dir="auto">{lines.join(" ")}</span>
        <span class="about">
          {end} · {agent} · <bdi>{cwd}</bdi> · {WHY[value.moment]} ·{" "}
          <span title={moment(at)}>{age(at)}</span> ·{" "}
          <a href={sessionAddress(hit.sessionId)}>source</a>
        </span>
        {mayWrite.value && !value.unwanted && (
          <span class="note-actions">
            <button
              type="button"
              class="quiet"
              aria-label={`Not again: ${lines[0] ?? ""}`}
              onClick={() => void act(refuse)}
            >
              Not again
            </button>
          </span>
        )}
      </div>
    </li>
  );
}
