/** A range of days, both of them included; either may be left open. */

import { daysOf, toRange } from "./periods.ts";

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
