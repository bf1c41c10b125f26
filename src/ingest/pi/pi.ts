/** Session files of pi, in a folder per project. */

import { commandFor, folderOf, joinPath } from "../machine-paths.ts";
import { hasPiHeader, isGatewayPath, readPiFile } from "../pi-format/pi-file.ts";
import type { TranscriptSource } from "../source.ts";

export const PI: TranscriptSource = {
  name: "pi",

  places(environment) {
    const { home } = environment;
    const agent = folderOf(environment, "PI_CODING_AGENT_DIR", joinPath(home, ".pi/agent"));
    return [agent, joinPath(home, ".omp/agent")].map((folder) => ({
      root: joinPath(folder, "sessions"),
      matches: (path) => path.endsWith(".jsonl"),
      near: (cwd) => [`--${cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")}--`],
    }));
  },

  recognise: (head, path) => hasPiHeader(head) && !isGatewayPath(path),

  read: (input) => readPiFile(input, async (session) => session),

  resumeCommand: ({ id }) => commandFor("pi --session ", id),
};
