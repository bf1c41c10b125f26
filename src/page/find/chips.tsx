/** Filters as chips; each opens a list of its values with their counts. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { short } from "../parts/words.ts";
import {
  choose,
  chosenFilters,
  type FacetValue,
  FILTER_NAMES,
  FILTERS,
  type Filter,
  facets,
  isOn,
  openMenu,
  SWITCHES,
  turn,
} from "./filters.ts";
import { daysOf, PERIODS, toRange } from "./periods.ts";

/** Longer lists can be narrowed by typing. */
const MANY = 12;

export function Chips({ searching }: { readonly searching: boolean }) {
  const chosen = chosenFilters();
  const row = useRef<HTMLFieldSetElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      if (!row.current?.contains(event.target as Node)) openMenu.value = undefined;
    };
    document.addEventListener("pointerdown", close);
    return () => document.removeEventListener("pointerdown", close);
  }, []);
  return (
    <fieldset class="chips" ref={row} aria-label="Filters">
      {FILTERS.map((filter) => {
        const value = chosen[filter];
        // The list shows sessions; only messages have a role.
        if (value === undefined && filter === "role" && !searching) return null;
        return <Chip key={filter} filter={filter} value={value} />;
      })}
      {SWITCHES.map(({ name, words, title }) => {
        // Hits are no rows that stand for others.
        if (name === "flat" && searching) return null;
        return (
          <button
            key={name}
            type="button"
            class={isOn(name) ? "chip chosen-one" : "chip"}
            title={title}
            aria-pressed={isOn(name)}
            onClick={() => turn(name)}
          >
            {words}
          </button>
        );
      })}
    </fieldset>
  );
}

/** Undefined while the counts load. */
function valuesOf(filter: Filter): readonly FacetValue[] | undefined {
  const counted = facets.value?.[filter];
  if (filter !== "since") return counted;
  const counts = new Map(counted?.map(({ value, count }) => [value, count]));
  return PERIODS.map(([value]) => ({ value, count: counts.get(value) ?? -1 }));
}

function Chip(props: { readonly filter: Filter; readonly value: string | undefined }) {
  const { filter, value } = props;
  const isOpen = openMenu.value === filter;
  const chip = useRef<HTMLButtonElement>(null);
  /** Returns the focus to the chip: the removed menu would lose it. */
  const close = () => {
    openMenu.value = undefined;
    chip.current?.focus();
  };
  const pick = (next: string | undefined) => {
    close();
    choose(filter, next);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape and arrows work from anywhere in the menu
    <div
      class="chip-place"
      onKeyDown={(event) => {
        if (!isOpen) return;
        if (event.key === "Escape") {
          event.stopPropagation();
          close();
        }
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
          event.preventDefault();
          focusOption(event.currentTarget, event.key === "ArrowDown" ? 1 : -1);
        }
      }}
    >
      <button
        ref={chip}
        type="button"
        class={value === undefined ? "chip" : "chip chosen"}
        aria-expanded={isOpen}
        aria-haspopup="listbox"
        onClick={() => {
          openMenu.value = isOpen ? undefined : filter;
        }}
      >
        {FILTER_NAMES[filter]}
        {value !== undefined && <b dir="auto">{wordsFor(filter, value)}</b>}
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
      {isOpen && <Menu filter={filter} value={value} pick={pick} />}
    </div>
  );
}

function Menu(props: {
  readonly filter: Filter;
  readonly value: string | undefined;
  readonly pick: (next: string | undefined) => void;
}) {
  const { filter, value, pick } = props;
  const narrowed = useSignal("");
  const values = valuesOf(filter);
  const shown = values?.filter((one) =>
    one.value.toLowerCase().includes(narrowed.value.toLowerCase()),
  );
  return (
    <div class="menu" role="listbox" aria-label={FILTER_NAMES[filter]} aria-busy={!shown}>
      {values !== undefined && values.length > MANY && (
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
      {shown?.slice(0, 100).map((one) => (
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
      {filter === "since" && <DayRange value={value} pick={(range) => choose("since", range)} />}
      {shown === undefined && <p class="searching">Counting …</p>}
      {shown?.length === 0 && (
        <p>
          {narrowed.value === ""
            ? "No session has a value."
            : `No value contains “${narrowed.value}”.`}
        </p>
      )}
    </div>
  );
}

/** Moves the focus by one among the values; from the chip, to the first or the last. */
function focusOption(place: Element, step: 1 | -1): void {
  const options = [...place.querySelectorAll<HTMLElement>("[role=option]")];
  const at = options.indexOf(document.activeElement as HTMLElement);
  const next = at === -1 && step === -1 ? -1 : at + step;
  options.at(next % Math.max(1, options.length))?.focus();
}

function wordsFor(filter: Filter, value: string): string {
  if (filter !== "since") return value;
  const [first, last] = daysOf(value);
  if (first !== "" && last !== "") return first === last ? first : `${first} to ${last}`;
  if (first + last !== "") return first === "" ? `until ${last}` : `since ${first}`;
  return PERIODS.find(([key]) => key === value)?.[1] ?? value;
}

/** A range of days, both of them included; either may be left open. */
export function DayRange(props: {
  readonly value: string | undefined;
  readonly pick: (range: string | undefined) => void;
}) {
  const [first, last] = daysOf(props.value);
  return (
    <div class="day-range">
      <label>
        From
        <input
          type="date"
          value={first}
          max={last}
          onChange={({ currentTarget }) => props.pick(toRange(currentTarget.value, last))}
        />
      </label>
      <label>
        to
        <input
          type="date"
          value={last}
          min={first}
          onChange={({ currentTarget }) => props.pick(toRange(first, currentTarget.value))}
        />
      </label>
    </div>
  );
}
