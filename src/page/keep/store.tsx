/** The view of the store: status, verification, deletion and forgetting. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { connection, engine, mayWrite, tell } from "../data/connection.ts";
import { ask, Copy, Failure, Tile } from "../parts/controls.tsx";
import { counted, size, tellReport, whole } from "../parts/words.ts";

type TenantState = Awaited<ReturnType<ReturnType<typeof engine.peek>["tenantStatus"]>>;
type StoreState = Awaited<ReturnType<ReturnType<typeof engine.peek>["status"]>>;

export function StoreView() {
  const state = connection.value;
  const isOperator = state.kind === "open" && state.engine.access.operator;
  const tenant = useSignal<TenantState>(undefined);
  const store = useSignal<StoreState | undefined>(undefined);
  const failure = useSignal("");
  const load = async () => {
    try {
      const [one, whole] = await Promise.all([
        engine.peek().tenantStatus(),
        isOperator ? engine.peek().status() : undefined,
      ]);
      tenant.value = one;
      store.value = whole;
    } catch (error) {
      failure.value = tell(error);
    }
  };
  useEffect(() => void load(), []);
  return (
    <main class="view">
      <h1>Store</h1>
      <Failure text={failure.value} alert />
      {tenant.value !== undefined && <TenantFigures state={tenant.value} />}
      {store.value !== undefined && <StoreFigures state={store.value} />}
      {isOperator && <Verification />}
      {mayWrite.value && <Forgetting onDone={() => void load()} />}
      <p class="about">
        Programs use the <a href="docs">REST API</a>. Create tokens with{" "}
        <code>backscroll token create</code>.
      </p>
    </main>
  );
}

function TenantFigures({ state }: { readonly state: NonNullable<TenantState> }) {
  const { index, feedHead } = state;
  return (
    <section>
      <h2>Contents</h2>
      <dl class="tiles">
        <Tile name="Sessions" value={whole(state.sessions)} />
        <Tile name="Messages" value={whole(state.messages)} />
        <Tile name="Content" value={size(state.contentBytes)} />
        <Tile name="Memories" value={whole(state.memories)} />
        <Tile name="Facts" value={whole(state.facts)} />
        <Tile name="Being written" value={whole(state.pending)} />
      </dl>
      <h2>Search index</h2>
      <dl class="tiles">
        <Tile name="Documents" value={whole(index.documents)} />
        <Tile name="Segments" value={whole(index.segments)} />
        <Tile name="Size" value={size(index.bytes)} />
        <Tile name="Not indexed yet" value={whole(index.lag)} />
      </dl>
      <h2>Change feed</h2>
      <p>
        {counted(state.feedPosition, "change")}. The hash of the last one stands for all of them:{" "}
        <code class="hash">{feedHead}</code> <Copy label="Copy" text={() => feedHead} />
      </p>
    </section>
  );
}

function StoreFigures({ state }: { readonly state: StoreState }) {
  return (
    <section>
      <h2>Database</h2>
      <dl class="tiles">
        <Tile name="Kind" value={state.backend === "sqlite" ? "SQLite" : "PostgreSQL"} />
        <Tile name="On disk" value={size(state.databaseBytes)} />
        <Tile name="Write-ahead log" value={size(state.walBytes)} />
        <Tile name="Schema version" value={String(state.schemaVersion)} />
        <Tile name="Tenants" value={whole(state.tenants.length)} />
      </dl>
      <p class="about hash">{state.address}</p>
      {state.losses.length > 0 && (
        <p class="failure">
          {counted(state.losses.length, "loss", "losses")} of writes recorded: run{" "}
          <code>backscroll doctor</code>.
        </p>
      )}
    </section>
  );
}

function Verification() {
  const said = useSignal("");
  const isBad = useSignal(false);
  const isRunning = useSignal(false);
  const verify = async () => {
    isRunning.value = true;
    try {
      const report = await engine.peek().verify();
      isBad.value = !report.ok;
      said.value = tellReport(report);
    } catch (error) {
      isBad.value = true;
      said.value = tell(error);
    }
    isRunning.value = false;
  };
  return (
    <section>
      <h2>Verification</h2>
      <p class="about">Recomputes and compares the hash of every entry and every change.</p>
      <button type="button" disabled={isRunning.value} onClick={() => void verify()}>
        {isRunning.value ? "Verifying …" : "Verify the store"}
      </button>
      <p class={isBad.value ? "failure" : "good"} aria-live="polite">
        {said.value}
      </p>
    </section>
  );
}

function Forgetting({ onDone }: { readonly onDone: () => void }) {
  const said = useSignal("");
  const sweep = async () => {
    const text =
      "Expired sessions are deleted permanently, and content that compactions cover is erased where the retention of its session requires it.";
    if (!(await ask("Apply retention now?", text, "Apply"))) return;
    try {
      const report = await engine.peek().sweep();
      said.value = `${counted(report.deletedSessions.length, "session")} deleted.`;
      onDone();
    } catch (error) {
      said.value = tell(error);
    }
  };
  return (
    <section>
      <h2>Retention</h2>
      <p class="about">
        The server deletes expired sessions and erases what their retention requires by itself, from
        time to time. Each session has its own <i>Retention</i>.
      </p>
      <button type="button" onClick={() => void sweep()}>
        Apply now
      </button>
      <p aria-live="polite">{said.value}</p>
    </section>
  );
}
