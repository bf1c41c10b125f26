/** The first view: a focused search box, and below it hits or the newest sessions. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { address, param } from "../data/address.ts";
import { hasTwoPanes } from "../parts/media.ts";
import { Chips } from "./chips.tsx";
import { typeQuery } from "./filters.ts";
import { openFirst } from "./search.ts";
import { Results, SessionList } from "./session-rows.tsx";

/**
 * Help for the query language, which the command line shares.
 *
 * Examples with their meaning.
 */
const EXAMPLES: readonly (readonly [typed: readonly string[], means: string])[] = [
  [["cron lock"], "either word; messages with both rank higher"],
  [['"cron job"'], "the phrase"],
  [["+lock", "cron AND lock"], "required"],
  [["-lock", "NOT lock"], "excluded"],
  [["redis OR postgres"], "one of them"],
  [["acquire*"], "words with this prefix; the last word you type counts as one"],
  [["parseQuery", "src/a.ts"], "the whole name ranks before its parts"],
  [["agent:", "project:", "repo:", "workstation:"], "the origin of the session"],
  [["git:", "model:", "role:", "tool:"], "Git branch, model, role, tool"],
  [["since:7d", "until:2026-05"], "time: days, months, years, today, yesterday"],
];

function QueryHelp() {
  return (
    <dl id="query-help" class="query-help">
      {EXAMPLES.map(([typed, means]) => (
        <div key={means}>
          <dt>
            {typed.map((one) => (
              <code key={one}>{one}</code>
            ))}
          </dt>
          <dd>{means}</dd>
        </div>
      ))}
    </dl>
  );
}

function isByKey({ inputType }: InputEvent): boolean {
  return /^(insert(Text|CompositionText)|delete)/.test(inputType ?? "");
}

export function Find() {
  const query = param("q");
  const isSearching = query.trim() !== "";
  const box = useRef<HTMLInputElement>(null);
  const showsHelp = useSignal(false);
  useEffect(() => {
    // Not on a phone: its keyboard would cover half of the list.
    if (address.peek().view === "find" && matchMedia("(pointer: fine)").matches) {
      box.current?.focus();
    }
  }, []);
  // The other pane has the main content.
  const Place = hasTwoPanes.value ? "aside" : "main";
  return (
    <Place class="find" aria-label="Sessions">
      {address.value.view === "find" && <h1 class="sr-only">Sessions</h1>}
      <search>
        <form
          class="search"
          onSubmit={(event) => {
            event.preventDefault();
            void openFirst();
          }}
        >
          <input
            ref={box}
            id="query"
            type="search"
            value={query}
            placeholder="Search every conversation"
            aria-label="Search every conversation"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            onInput={(event) => typeQuery(event.currentTarget.value, isByKey(event))}
            onKeyDown={(event) => {
              if (event.key !== "Escape" || param("q") === "") return;
              // The page's own keys would leave the box, and the browser would empty it alone.
              event.preventDefault();
              event.stopPropagation();
              typeQuery("", true);
            }}
          />
          <button
            type="button"
            class="quiet"
            aria-expanded={showsHelp.value}
            aria-controls="query-help"
            onClick={() => {
              showsHelp.value = !showsHelp.value;
            }}
          >
            Syntax
          </button>
        </form>
      </search>
      {showsHelp.value && <QueryHelp />}
      <Chips searching={isSearching} />
      {isSearching ? <Results query={query} /> : <SessionList />}
    </Place>
  );
}
