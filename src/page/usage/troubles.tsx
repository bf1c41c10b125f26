/** Failures among the newest sessions, and the tools and files that those sessions used. */

import { useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { projectName } from "../../model/display.ts";
import { param, sessionAddress } from "../data/address.ts";
import { engine, tell } from "../data/connection.ts";
import { Latest } from "../data/latest.ts";
import { periodOf } from "../find/periods.ts";
import { age, counted, short, whole } from "../parts/words.ts";

type Review = Awaited<ReturnType<ReturnType<typeof engine.peek>["review"]>>;
type SessionReview = Review["sessions"][number];

/** The server's limit of sessions in one review. */
const REVIEWED = 50;
const ROWS = 12;

export function Troubles() {
  const latest = useRef(new Latest());
  const review = useSignal<Review | undefined>(undefined);
  const failure = useSignal("");
  useSignalEffect(() => {
    const input = { limit: REVIEWED, ...periodOf(param("since")) };
    latest.current
      .run(() => engine.peek().review(input))
      .then(
        (result) => {
          if (result !== undefined) review.value = result;
        },
        (error: unknown) => {
          failure.value = tell(error);
        },
      );
  });
  if (failure.value !== "") return <p class="failure">{failure.value}</p>;
  if (review.value === undefined) return <p class="about">Reading the newest sessions …</p>;
  const { sessions, tools, files } = review.value;
  const bad = sessions.filter(isBad).toSorted((one, other) => other.failed - one.failed);
  return (
    <>
      <section>
        <h2>Failures in the newest {sessions.length} sessions</h2>
        {bad.length === 0 ? (
          <p class="about">No call failed, and nothing was left unfinished.</p>
        ) : (
          <div class="table told">
            <table>
              <thead>
                <tr>
                  <th scope="col">Session</th>
                  <th scope="col">Failed</th>
                  <th scope="col">Retries</th>
                  <th scope="col">Ends with</th>
                </tr>
              </thead>
              <tbody>
                {bad.slice(0, ROWS).map((one) => (
                  <Trouble key={one.session.id} review={one} />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </section>
      <div class="columns">
        <section>
          <h2>Tools</h2>
          <div class="table">
            <table>
              <thead>
                <tr>
                  <th scope="col">Tool</th>
                  <th scope="col">Calls</th>
                  <th scope="col">Failed</th>
                </tr>
              </thead>
              <tbody>
                {tools.slice(0, ROWS).map(({ tool, calls, failed }) => (
                  <tr key={tool}>
                    <th scope="row">{tool}</th>
                    <td>{short(calls)}</td>
                    <td>{whole(failed)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
        <section>
          <h2>Changed files</h2>
          <div class="table">
            <table>
              <thead>
                <tr>
                  <th scope="col">File</th>
                  <th scope="col">Times</th>
                </tr>
              </thead>
              <tbody>
                {files.slice(0, ROWS).map(({ path, times }) => (
                  <tr key={path}>
                    <th scope="row" title={path}>
                      {path.split("/").slice(-3).join("/")}
                    </th>
                    <td>{whole(times)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
      </div>
    </>
  );
}

function isBad({ failed, unfinished }: SessionReview): boolean {
  return failed > 0 || unfinished !== null;
}

function Trouble({ review }: { readonly review: SessionReview }) {
  const { session, failed, calls, retries, unfinished } = review;
  const { projectPath } = session.origin;
  return (
    <tr>
      <th scope="row" dir="auto">
        <a href={sessionAddress(session.id)}>
          {session.title === "" ? session.shortId : session.title}
        </a>{" "}
        <span class="about">
          {projectPath !== undefined && projectName(projectPath)} · {age(session.updatedAt)}
        </span>
      </th>
      <td data-name="Failed" title={counted(calls, "call")}>
        {whole(failed)}
      </td>
      <td data-name="Retries">{whole(retries)}</td>
      <td data-name="Ends with">{unfinished === null ? "an answer" : `an open ${unfinished}`}</td>
    </tr>
  );
}
