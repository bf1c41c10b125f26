/** The first view: a focused search box, and below it hits or the newest sessions. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { param } from "../data/address.ts";
import { Chips } from "./chips.tsx";
import { chosenFilters, typeQuery } from "./filters.ts";
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

export function Find() {
  const query = param("q");
  const isSearching = query.trim() !== "";
  const box = useRef<HTMLInputElement>(null);
  const showsHelp = useSignal(false);
  useEffect(() => {
    // Not on a phone: its keyboard would cover half of the list.
    if (matchMedia("(pointer: fine)").matches) box.current?.focus();
  }, []);
  return (
    <main class="find">
      <search>
        <form
          class="search"
          onSubmit={(event) => {
            event.preventDefault();
            document.querySelector<HTMLElement>("[data-item]")?.click();
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
            onInput={(event) => typeQuery(event.currentTarget.value)}
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
      {isSearching ? (
        <Results query={query} />
      ) : (
        <SessionList filtered={Object.keys(chosenFilters()).length > 0} />
      )}
    </main>
  );
}
