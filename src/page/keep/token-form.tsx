/** A form for the access token, if the server requires one. */

import { useSignal } from "@preact/signals";
import { connection, enterToken } from "../data/connection.ts";
import { Failure } from "../parts/controls.tsx";

export function TokenForm() {
  const state = connection.value;
  const message = state.kind === "token" ? state.message : "";
  const token = useSignal("");
  const keep = useSignal(false);
  const isSending = useSignal(false);
  const send = async () => {
    isSending.value = true;
    await enterToken(token.value, keep.value);
    isSending.value = false;
  };
  return (
    <main class="token">
      <h1>Backscroll</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          required
          value={token.value}
          onInput={(event) => {
            token.value = event.currentTarget.value;
          }}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={keep.value}
            onChange={(event) => {
              keep.value = event.currentTarget.checked;
            }}
          />
          Keep it until this tab is closed
        </label>
        <button type="submit" class="main" disabled={isSending.value}>
          Open
        </button>
        <Failure text={message} alert />
      </form>
      <p class="about">
        The operator of the server creates one: <code>backscroll token create --scope read</code>
      </p>
    </main>
  );
}
