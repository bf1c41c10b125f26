import type { ComponentChildren } from "preact";
import { isOpen, toggle } from "./folds.ts";

/** One line that opens to more. */
export function Fold(props: {
  readonly name: string;
  readonly class?: string;
  readonly line: ComponentChildren;
  readonly children: () => ComponentChildren;
}) {
  const open = isOpen(props.name);
  return (
    <div class={`fold ${props.class ?? ""} ${open ? "open" : ""}`}>
      <button
        type="button"
        class="fold-line"
        aria-expanded={open}
        onClick={() => toggle(props.name)}
      >
        <span class="sign" aria-hidden="true">
          {open ? "▾" : "▸"}
        </span>
        {props.line}
      </button>
      {open && <div class="fold-body">{props.children()}</div>}
    </div>
  );
}
