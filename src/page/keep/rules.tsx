/** Rules in force, and candidates with a yes and a no. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { sessionAddress } from "../data/address.ts";
import { engine, mayWrite, type Rule, tell } from "../data/connection.ts";
import { Failure } from "../parts/controls.tsx";
import { age, moment } from "../parts/words.ts";

const SHOWN = 100;

export function Rules() {
  const rules = useSignal<readonly Rule[] | undefined>(undefined);
  const failure = useSignal("");
  const act = async (work?: () => Promise<unknown>) => {
    try {
      failure.value = "";
      await work?.();
      rules.value = (await engine.peek().listRules({ limit: SHOWN })).rules;
    } catch (error) {
      failure.value = tell(error);
    }
  };
  useEffect(() => void act(), []);
  return (
    <section>
      <h2>Rules</h2>
      <p class="about">What people said that was meant to stand. It stands once you accept it.</p>
      <Failure text={failure.value} alert />
      {rules.value?.length === 0 && <p class="about">No such sentence was found.</p>}
      <ul class="notes">
        {rules.value?.map((rule) => (
          <RuleNote key={rule.id} rule={rule} act={act} />
        ))}
      </ul>
    </section>
  );
}

type Act = (work: () => Promise<unknown>) => Promise<void>;

function RuleNote({ rule, act }: { readonly rule: Rule; readonly act: Act }) {
  const { id, text, status, project, owner, sessionId, sourceEntry, saidAt, replaces } = rule;
  const button = (name: string, work: () => Promise<unknown>) => (
    <button
      type="button"
      class="quiet"
      aria-label={`${name}: ${text}`}
      onClick={() => void act(work)}
    >
      {name}
    </button>
  );
  return (
    <li>
      <div class="note-head">
        <span dir="auto">{status === "in_force" ? <b>{text}</b> : text}</span>
        <span class="about">
          {status === "in_force" ? "in force" : "candidate"} · <bdi>{project ?? owner}</bdi> ·{" "}
          <span title={moment(saidAt)}>{age(saidAt)}</span>
          {sessionId !== null && (
            <>
              {" · "}
              <a href={sessionAddress(sessionId, { m: sourceEntry ?? "" })}>source</a>
            </>
          )}
          {replaces !== null && <bdi> · replaces “{replaces}”</bdi>}
        </span>
        {mayWrite.value && (
          <span class="note-actions">
            {status === "candidate" ? (
              <>
                {button("Accept", () => engine.peek().acceptRule(id))}
                {button("Reject", () => engine.peek().rejectRule(id))}
              </>
            ) : (
              button("Remove", () => engine.peek().removeRule(id))
            )}
          </span>
        )}
      </div>
    </li>
  );
}
