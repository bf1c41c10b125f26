/** The tree view of a session: branches, edits and forks with their fork points and links. */

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { sessionAddress } from "../data/address.ts";
import { tell } from "../data/connection.ts";
import type { Session } from "../data/types.ts";
import { age, counted } from "../parts/words.ts";
import type { SessionModel } from "./session-model.ts";
import { type PlacedStem, placeStems } from "./tree-layout.ts";
import { firstLines, readLines, type TreeLine } from "./tree-model.ts";

/** The height of a list item in the style sheet, in pixels. */
const ROW = 44;
/** Width and padding of the drawing in its own units. */
const WIDTH = 100;
const EDGE = 3;

const KINDS: Readonly<Record<TreeLine["kind"], string>> = {
  first: "from the start",
  edit: "edit",
  answer: "another answer",
  branch: "branch",
  fork: "fork",
};

export function SessionTree(props: { readonly model: SessionModel; readonly session: Session }) {
  const { model, session } = props;
  const branches = model.branches.value;
  const derived = model.subagents.value;
  const lines = useSignal<readonly TreeLine[]>(firstLines(branches));
  useEffect(() => {
    readLines(model.engine, session.id, branches, derived).then(
      (read) => {
        lines.value = read;
      },
      (error: unknown) => {
        model.failure.value = tell(error);
      },
    );
  }, [branches, derived]);
  const placed = useMemo(() => placeStems(lines.value), [lines.value]);
  const byId = new Map(lines.value.map((line) => [line.id, line]));
  const shown = model.leaf ?? branches.find(({ active }) => active)?.leaf.id;
  return (
    <section class="tree" aria-label="Branches and forks">
      <Drawing placed={placed} shown={placed.find(({ id }) => id === shown)} />
      <ol>
        {placed.map(({ id }) => {
          const line = byId.get(id);
          return (
            line !== undefined && (
              <Line key={id} line={line} session={session} isShown={id === shown} />
            )
          );
        })}
      </ol>
    </section>
  );
}

function Line(props: {
  readonly line: TreeLine;
  readonly session: Session;
  readonly isShown: boolean;
}) {
  const { line, session, isShown } = props;
  const { kind, words, from, to, endedAt, isActive } = line;
  const link =
    line.sessionId === undefined
      ? sessionAddress(session.id, { leaf: isActive ? "" : line.id })
      : sessionAddress(line.sessionId);
  return (
    <li>
      <a href={link} aria-current={isShown ? "true" : undefined} dir="auto">
        {words}
      </a>
      <span class="about">
        {isActive && "active · "}
        {KINDS[kind]}
        {kind !== "first" && ` at #${from}`} · {counted(to, "message")} · {age(endedAt)}
      </span>
    </li>
  );
}

/** Hidden from screen readers: the list beside it has the same content. */
function Drawing(props: {
  readonly placed: readonly PlacedStem[];
  readonly shown: PlacedStem | undefined;
}) {
  const { placed, shown } = props;
  const height = placed.length * ROW;
  return (
    <svg
      class="tree-drawing"
      viewBox={`0 0 ${WIDTH} ${height}`}
      height={height}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {placed.map((stem) => (
        <path key={stem.id} class="stem" d={`${stemPath(stem)}${tip(stem)}`} />
      ))}
      {shown !== undefined && <path class="stem shown" d={pathTo(shown, placed)} />}
      {shown !== undefined && <path class="tip shown" d={tip(shown)} />}
    </svg>
  );
}

/** The path from the root to the end of a branch, through its ancestors. */
function pathTo(stem: PlacedStem, placed: readonly PlacedStem[]): string {
  let path = stemPath(stem);
  let child = stem;
  while (child.parentRow !== child.row) {
    const parent = placed[child.parentRow];
    if (parent === undefined || parent.row >= child.row) break;
    path = `${stemPath({ ...parent, end: child.start })}${path}`;
    child = parent;
  }
  return path;
}

function stemPath(stem: PlacedStem): string {
  return `M${x(stem.start)} ${y(stem.parentRow)}V${y(stem.row)}H${x(stem.end)}`;
}

function tip(stem: PlacedStem): string {
  return `M${x(stem.end)} ${y(stem.row)}h0`;
}

function x(share: number): number {
  return EDGE + share * (WIDTH - 2 * EDGE);
}

function y(row: number): number {
  return (row + 0.5) * ROW;
}
