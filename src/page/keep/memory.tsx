/** The view of memories, rules and facts, with their sources. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { sessionAddress } from "../data/address.ts";
import { engine, type Fact, type Memory, mayWrite, tell } from "../data/connection.ts";
import { ask, Failure, setTo } from "../parts/controls.tsx";
import { age, moment } from "../parts/words.ts";
import { Rules } from "./rules.tsx";
import { Unasked } from "./unasked.tsx";

const PAGE = 200;

export function MemoryView() {
  const memories = useSignal<readonly Memory[] | undefined>(undefined);
  const facts = useSignal<readonly Fact[] | undefined>(undefined);
  const failure = useSignal("");
  const load = async () => {
    try {
      [memories.value, facts.value] = await Promise.all([
        engine.peek().listMemories({ limit: PAGE }),
        engine.peek().listFacts({ limit: PAGE }),
      ]);
    } catch (error) {
      failure.value = tell(error);
    }
  };
  const act = async (work: () => Promise<unknown>) => {
    try {
      failure.value = "";
      await work();
      await load();
    } catch (error) {
      failure.value = tell(error);
    }
  };
  useEffect(() => void load(), []);
  return (
    <main class="view">
      <h1>Memory</h1>
      <Failure text={failure.value} alert />
      <section>
        <h2>Memories</h2>
        <p class="about">Notes that agents keep for later sessions.</p>
        {memories.value?.length === 0 && (
          <p class="about">
            No agent has stored a memory. <code>backscroll setup</code> gives agents the tools for
            it.
          </p>
        )}
        <ul class="notes">
          {memories.value?.map((memory) => (
            <MemoryNote key={`${memory.agent}/${memory.name}`} memory={memory} act={act} />
          ))}
        </ul>
      </section>
      <Rules />
      <Unasked />
      <section>
        <h2>Facts</h2>
        <p class="about">Statements that were taken from conversations.</p>
        {facts.value?.length === 0 && (
          <p class="about">No fact was extracted from a conversation yet.</p>
        )}
        <ul class="notes">
          {facts.value?.map((fact) => (
            <FactNote key={fact.id} fact={fact} act={act} />
          ))}
        </ul>
      </section>
    </main>
  );
}

type Act = (work: () => Promise<unknown>) => Promise<void>;

function MemoryNote({ memory, act }: { readonly memory: Memory; readonly act: Act }) {
  const { agent, name, content, metadata, updatedAt } = memory;
  const draft = useSignal<string | undefined>(undefined);
  const sessionId = metadata["sessionId"];
  const save = () => {
    const next = draft.value ?? content;
    draft.value = undefined;
    void act(() => engine.peek().putMemory({ agent, name, content: next, metadata }));
  };
  const remove = async () => {
    const text = `${agent} forgets “${name}”. The sessions of the agent are not changed.`;
    if (await ask("Delete this memory?", text, "Delete")) {
      await act(() => engine.peek().deleteMemory(agent, name));
    }
  };
  return (
    <li>
      <div class="note-head">
        <b dir="auto">{name}</b>
        <span class="about">
          <bdi>{agent}</bdi> · <span title={moment(updatedAt)}>{age(updatedAt)}</span>
          {typeof sessionId === "string" && (
            <>
              {" · "}
              <a href={sessionAddress(sessionId)}>source</a>
            </>
          )}
        </span>
        {mayWrite.value && draft.value === undefined && (
          <span class="note-actions">
            <button type="button" class="quiet" onClick={setTo(draft, content)}>
              Edit
            </button>
            <button type="button" class="quiet" onClick={() => void remove()}>
              Delete
            </button>
          </span>
        )}
      </div>
      {draft.value === undefined ? (
        <p class="note-text" dir="auto">
          {content}
        </p>
      ) : (
        <>
          <textarea
            rows={6}
            aria-label={`Content of ${name}`}
            value={draft.value}
            onInput={(event) => {
              draft.value = event.currentTarget.value;
            }}
          />
          <div class="buttons">
            <button type="button" onClick={setTo(draft, undefined)}>
              Cancel
            </button>
            <button type="button" class="main" onClick={save}>
              Save
            </button>
          </div>
        </>
      )}
    </li>
  );
}

function FactNote({ fact, act }: { readonly fact: Fact; readonly act: Act }) {
  const { id, subject, predicate, object, sessionId, sourceEntry, confidence, createdAt } = fact;
  const remove = async () => {
    const text = `“${subject} ${predicate} ${object}” is deleted. Its session is not changed.`;
    if (await ask("Delete this fact?", text, "Delete"))
      await act(() => engine.peek().deleteFact(id));
  };
  return (
    <li class={fact.supersededBy === null ? "" : "superseded"}>
      <div class="note-head">
        <span dir="auto">
          <b>{subject}</b> {predicate} <b>{object}</b>
        </span>
        <span class="about">
          confidence {Math.round(confidence * 100)} % · {age(createdAt)} ·{" "}
          <a href={sessionAddress(sessionId, { m: sourceEntry ?? "" })}>source</a>
          {fact.supersededBy !== null && " · no longer holds"}
        </span>
        {mayWrite.value && (
          <span class="note-actions">
            <button type="button" class="quiet" onClick={() => void remove()}>
              Delete
            </button>
          </span>
        )}
      </div>
    </li>
  );
}
