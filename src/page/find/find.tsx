/** The first view: a focused search box, and below it hits or the newest sessions. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { param } from "../data/address.ts";
import { Chips } from "./chips.tsx";
import { chosenFilters, typeQuery } from "./filters.ts";
import { QueryHelp } from "./query-help.tsx";
import { Results } from "./results.tsx";
import { SessionList } from "./session-rows.tsx";

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
