import { maskJson } from "../../../api/mask.ts";
import { toWire } from "../../../api/shape.ts";
import { blameWork } from "../../../blame/blame.ts";
import { digestWork } from "../../../blame/digest.ts";
import { BLAME_COLUMNS, blameReasons, blameRows } from "../../../blame/show-blame.ts";
import { BLAMED, WORK_DIGEST } from "../../../model/answers/blame.ts";
import type { JsonValue } from "../../../model/json.ts";
import { type Command, defineCommand, flag } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { readHistory } from "../../git-history.ts";
import { formatTable } from "../../print.ts";
import { commandLine } from "../../program.ts";
import { withStore } from "../../store.ts";
import { clean, wrapLine } from "../../text.ts";

const TRAILERS = flag("Without the trailers of Entire and the notes of git-ai.");

const INCOMPLETE =
  "Some of the store is not indexed for this yet, so conversations may be missing; maintain does it now.";

export const blame: Command = defineCommand({
  name: "blame",
  summary: "Tell which conversation wrote lines, a commit or a branch, and why.",
  details:
    "Run it in a clone of the repository; the conversations may be of another clone. It compares the lines that agents wrote with those of the commit, so it survives a rebase, a squash, a move and formatting. SURE is yes or maybe: docs/blame.md says how often each is right. asked is the last request with content before the edit, because a sentence that names something of its lines. #12 is a message's number. --json prints an object a line. Secrets are masked. Exits with 1 if no stored conversation wrote any of it.",
  arguments: [
    {
      name: "SUBJECT",
      help: "FILE, FILE:LINE or FILE:FIRST-LAST; a commit; or A..B, the commits of a branch.",
    },
  ],
  options: { "no-trailers": TRAILERS },
  examples: ["blame src/cron.ts:12-20", "blame HEAD", "blame main..feature --json"],
  run: async (context, { SUBJECT: subject }, options) => {
    const { commits, file } = await readHistory(subject, {
      trailers: !(options["no-trailers"] ?? false),
    });
    return withStore(context, "read", async (tenant) => {
      const { terminal } = context;
      const told = await blameWork(tenant, { commits, ...file });
      const first = told.answers.find(({ sessions }) => sessions.length > 0)?.sessions[0];
      const code = first === undefined ? EXIT.nothing : EXIT.ok;
      if (context.json) {
        for (const answer of told.answers) {
          const wire = maskJson(toWire(BLAMED, answer) as unknown as JsonValue);
          await terminal.print(JSON.stringify(wire));
        }
        return code;
      }
      const header = BLAME_COLUMNS[file === undefined ? "commits" : "lines"];
      for (const line of formatTable(header, blameRows(told), terminal.columns)) {
        await terminal.print(line);
      }
      const { parts, more } = blameReasons(told);
      for (const part of parts) {
        await terminal.print();
        for (const line of part) {
          // Below its text, not below its label.
          const label = /^ {2}(\w+ +)/.exec(line)?.[1]?.length;
          const wrapped = wrapLine(clean(line), terminal.columns, label);
          for (const each of wrapped) await terminal.print(each);
        }
      }
      if (told.incomplete) terminal.note(INCOMPLETE);
      if (more > 0) terminal.note(`${more} more edits: ask for fewer lines to see why.`);
      if (first !== undefined) {
        const at = Math.max(0, (first.edit?.index ?? first.asked?.index ?? 0) - 5);
        const read = commandLine(context, `show ${first.shortId} --offset ${at}`);
        terminal.note(`Read: ${read}   Page: ${commandLine(context, `open ${first.shortId}`)}`);
      }
      return code;
    });
  },
});

export const pr: Command = defineCommand({
  name: "pr",
  summary: "Digest the conversations behind a branch, for a reviewer.",
  details:
    "What was asked, decided and rejected, what was tried and failed, which tests ran with which result, files and cost by conversation: at most 60 lines of Markdown, without a model. Secrets are masked and outputs of tools are never quoted, but requests are: read it before you post it. Nothing is posted. Exits with 1 if no stored conversation wrote any of it.",
  arguments: [{ name: "RANGE", help: "A..B: the commits of B that A has not." }],
  options: { "no-trailers": TRAILERS },
  examples: ["pr main..feature"],
  run: async (context, { RANGE: range }, options) => {
    const { commits } = await readHistory(range, { trailers: !(options["no-trailers"] ?? false) });
    return withStore(context, "read", async (tenant) => {
      const digest = await digestWork(tenant, { commits });
      const { terminal } = context;
      if (context.json) await terminal.printJson(toWire(WORK_DIGEST, digest));
      else await terminal.write(`${clean(digest.markdown)}\n`);
      return digest.conversations === 0 ? EXIT.nothing : EXIT.ok;
    });
  },
});
