/** The branches of a session: where each left the path that is shown, and the way to it. */

import { sessionAddress } from "../data/address.ts";
import type { Branch, Session } from "../data/types.ts";
import { age, counted } from "../parts/words.ts";
import type { SessionModel } from "./session-model.ts";
import { oneLine } from "./tool-call.ts";

export function Branches(props: { readonly model: SessionModel; readonly session: Session }) {
  const { model, session } = props;
  return (
    <ul class="sub-list" aria-label="Branches">
      {model.branches.value.map((branch) => {
        const isShown = model.leaf === undefined ? branch.active : branch.leaf.id === model.leaf;
        return (
          <li key={branch.leaf.id}>
            <a
              href={sessionAddress(session.id, {
                leaf: branch.active ? "" : branch.leaf.id,
                m: branch.leaf.kind === "message" ? branch.leaf.id : "",
              })}
              aria-current={isShown ? "true" : undefined}
              dir="auto"
            >
              {lastWords(branch)}
            </a>{" "}
            <span class="about">
              {branch.active ? "active · " : ""}
              {counted(branch.messages, "message")} · {age(branch.leaf.createdAt)}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

/** What a branch ends with. */
function lastWords({ leaf }: Branch): string {
  const text = leaf.blocks
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join(" ");
  if (text.trim() !== "") return oneLine(text);
  const call = leaf.blocks.find((block) => block.type === "tool_use");
  return call === undefined ? leaf.kind.replaceAll("_", " ") : `${call.name} …`;
}
