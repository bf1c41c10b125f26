/**
 * The command line on a machine with another policy: the path of its file is the first argument.
 * `+` separates commands; each ends with a line of its exit code on standard output.
 */

import { main as runCommand } from "../../src/cli/main.ts";
import { POLICY_FILES } from "../../src/policy.ts";

export async function main([path = "", ...words]: readonly string[]): Promise<number> {
  POLICY_FILES.splice(0, POLICY_FILES.length, path);
  for (let rest = words; rest.length > 0; ) {
    const end = rest.includes("+") ? rest.indexOf("+") : rest.length;
    const code = await runCommand(rest.slice(0, end));
    process.stdout.write(`exit ${code}\n`);
    rest = rest.slice(end + 1);
  }
  return 0;
}
