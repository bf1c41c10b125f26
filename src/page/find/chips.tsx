/** Filters as chips; each opens a list of its values with their counts. */

import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { short } from "../parts/words.ts";
import { type FacetValue, facets } from "./facets.ts";
import { choose, chosenFilters, FILTER_NAMES, FILTERS, type Filter, PERIODS } from "./filters.ts";

const open = signal<Filter | undefined>(undefined);
/** Longer lists can be narrowed by typing. */
const MANY = 12;

export function Chips({ searching }: { readonly searching: boolean }) {
  const chosen = chosenFilters();
  const row = useRef<HTMLFieldSetElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      if (!row.current?.contains(event.target as Node)) open.value = undefined;
    };
    document.addEventListener("pointerdown", close);
    return () => document.removeEventListener("pointerdown", close);
  }, []);
  return (
    <fieldset class="chips" ref={row} aria-label="Filters">
      {FILTERS.map((filter) => {
        const values = valuesOf(filter);
        const value = chosen[filter];
        const isAsked = filter === "role" || filter === "model";
        if (value === undefined && (values.length === 0 || (isAsked && !searching))) return null;
        return <Chip key={filter} filter={filter} value={value} values={values} />;
      })}
    </fieldset>
  );
}

function valuesOf(filter: Filter): readonly FacetValue[] {
  const counted = facets.value[filter];
  if (filter === "since") {
    const counts = new Map(counted?.map(({ value, count }) => [value, count]));
    return PERIODS.map(([value]) => ({ value, count: counts.get(value) ?? -1 }));
  }
  if (filter === "role" && counted === undefined) {
    return ["user", "assistant", "tool", "system"].map((value) => ({ value, count: -1 }));
  }
  return counted ?? [];
}

function Chip(props: {
  readonly filter: Filter;
  readonly value: string | undefined;
  readonly values: readonly FacetValue[];
}) {
  const { filter, value, values } = props;
  const narrowed = useSignal("");
  const isOpen = open.value === filter;
  const pick = (next: string | undefined) => {
    open.value = undefined;
    narrowed.value = "";
    choose(filter, next);
  };
  const shown = values.filter((one) =>
    one.value.toLowerCase().includes(narrowed.value.toLowerCase()),
  );
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the menu from anywhere in it
    <div
      class="chip-place"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isOpen) return;
        event.stopPropagation();
        open.value = undefined;
      }}
    >
      <button
        type="button"
        class={value === undefined ? "chip" : "chip chosen"}
        aria-expanded={isOpen}
        aria-haspopup="listbox"
        onClick={() => {
          open.value = isOpen ? undefined : filter;
        }}
      >
        {FILTER_NAMES[filter]}
        {value !== undefined && <b>{wordsFor(filter, value)}</b>}
      </button>
      {value !== undefined && (
        <button
          type="button"
          class="chip-off"
          aria-label={`Remove the filter ${FILTER_NAMES[filter]}`}
          onClick={() => pick(undefined)}
        >
          ×
        </button>
      )}
      {isOpen && (
        <div class="menu" role="listbox" aria-label={FILTER_NAMES[filter]}>
          {values.length > MANY && (
            <input
              type="text"
              placeholder="Narrow down"
              aria-label="Narrow down"
              value={narrowed.value}
              onInput={(event) => {
                narrowed.value = event.currentTarget.value;
              }}
            />
          )}
          {shown.slice(0, 100).map((one) => (
            <button
              key={one.value}
              type="button"
              role="option"
              aria-selected={one.value === value}
              onClick={() => pick(one.value === value ? undefined : one.value)}
            >
              <span dir="auto">{wordsFor(filter, one.value)}</span>
              {one.count >= 0 && <i>{short(one.count)}</i>}
            </button>
          ))}
          {shown.length === 0 && <p>No value has “{narrowed.value}”.</p>}
        </div>
      )}
    </div>
  );
}

function wordsFor(filter: Filter, value: string): string {
  if (filter !== "since") return value;
  return PERIODS.find(([key]) => key === value)?.[1] ?? value;
}
