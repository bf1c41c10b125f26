/** The row of a message; its plain text if it cannot be rendered, so that it takes no other with it. */

import { Component } from "preact";
import type { Entry } from "../data/connection.ts";
import { Plain, textIn } from "./blocks.tsx";
import { entryAt, MessageRow, type RowProps } from "./message-row.tsx";

interface State {
  /** Of the last failure; another message in its place is rendered as usual. */
  readonly failed?: { readonly entry: Entry | undefined; readonly error: unknown };
}

export class SafeRow extends Component<RowProps, State> {
  override state: State = {};

  override componentDidCatch(error: unknown): void {
    this.setState({ failed: { entry: entryAt(this.props.model, this.props.index), error } });
  }

  override render() {
    const { model, index } = this.props;
    const { failed } = this.state;
    const entry = entryAt(model, index);
    if (failed === undefined || failed.entry !== entry) return <MessageRow {...this.props} />;
    return (
      <article
        class="message bare"
        tabIndex={-1}
        data-item
        data-entry={entry?.id}
        aria-posinset={index + 1}
        aria-setsize={model.pages.total.value}
        aria-label={`Message ${index}`}
      >
        <header />
        <div class="content">
          <p class="failure">
            Message #{index} cannot be shown as usual: {String(failed.error)}
          </p>
          <Plain text={(entry?.blocks ?? []).map(textIn).join("\n\n")} />
        </div>
      </article>
    );
  }
}
