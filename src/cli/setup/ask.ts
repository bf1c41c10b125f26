/** Asks the user at the terminal. */

/** Whether the terminal is interactive. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** No unless the answer begins with y. */
export async function askYesNo(question: string): Promise<boolean> {
  process.stderr.write(`${question} [y/N] `);
  const answer = await readLine();
  return /^\s*y/i.test(answer);
}

export async function askText(question: string): Promise<string> {
  process.stderr.write(`${question} `);
  return readLine();
}

/** Empty at the end of the input. */
function readLine(): Promise<string> {
  const { stdin } = process;
  return new Promise((resolve) => {
    const done = (text: string) => {
      stdin.off("data", onData).off("end", onEnd).pause();
      resolve(text);
    };
    const onData = (data: Buffer) => done(data.toString("utf8"));
    const onEnd = () => done("");
    stdin.on("data", onData).on("end", onEnd).resume();
  });
}
