import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";

/**
 * The open folds by name. Kept outside of the rows, which are removed when they leave the view.
 */
const opened = signal<ReadonlySet<string>>(new Set());

function isOpen(name: string): boolean {
  return opened.value.has(name);
}

function toggle(name: string): void {
  const next = new Set(opened.peek());
  if (!next.delete(name)) next.add(name);
  opened.value = next;
}

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
