/** The export of a session as a file, with secrets masked by default. */

import { useSignal } from "@preact/signals";
import type { RemoteEngine } from "../../client/index.ts";
import { tell } from "../data/connection.ts";
import type { Session } from "../data/types.ts";

const FORMATS = [
  { name: "html", words: "HTML", ending: "html", type: "text/html" },
  { name: "markdown", words: "Markdown", ending: "md", type: "text/markdown" },
  { name: "atif", words: "JSON", ending: "json", type: "application/json" },
] as const;

export function ExportPanel(props: {
  readonly engine: RemoteEngine;
  readonly session: Session;
  readonly leaf: string | undefined;
}) {
  const { engine, session, leaf } = props;
  const raw = useSignal(false);
  const failure = useSignal("");
  const save = async ({ name, ending, type }: (typeof FORMATS)[number]) => {
    failure.value = "";
    try {
      const bytes = await engine.session(session.id).export({
        format: name,
        raw: raw.value,
        ...(leaf === undefined ? {} : { leaf }),
      });
      const file = await new Response(bytes as ReadableStream<Uint8Array<ArrayBuffer>>).blob();
      download(new Blob([file], { type }), `${session.shortId}.${ending}`);
    } catch (error) {
      failure.value = tell(error);
    }
  };
  return (
    <fieldset class="panel-pop" aria-label="Export">
      <h2>Export</h2>
      <p class="about">
        Saves the messages of this path as a file. Secrets are masked unless you say otherwise.
      </p>
      <div class="form-row">
        {FORMATS.map((format) => (
          <button key={format.name} type="button" onClick={() => void save(format)}>
            {format.words}
          </button>
        ))}
      </div>
      <label class="form-row">
        <input
          type="checkbox"
          checked={raw.value}
          onChange={(event) => {
            raw.value = event.currentTarget.checked;
          }}
        />
        Do not mask secrets
      </label>
      {failure.value !== "" && <p class="failure">{failure.value}</p>}
    </fieldset>
  );
}

function download(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The download has started by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
