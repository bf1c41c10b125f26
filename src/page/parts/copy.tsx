import { useSignal } from "@preact/signals";

/** A button that copies a text to the clipboard and confirms it. */
export function Copy(props: {
  readonly label: string;
  readonly title?: string;
  readonly text: () => string | Promise<string>;
}) {
  const said = useSignal("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(await props.text());
      said.value = "Copied";
    } catch {
      said.value = "Could not copy";
    }
    setTimeout(() => {
      said.value = "";
    }, 1_500);
  };
  return (
    <button type="button" class="quiet" title={props.title} onClick={() => void copy()}>
      <span aria-live="polite">{said.value === "" ? props.label : said.value}</span>
    </button>
  );
}
