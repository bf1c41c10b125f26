/** Writers that are killed one after the other, each while it writes and keeps the index up. */

import { Child } from "./child.ts";
import type { RestlessTask } from "./restless-writer.ts";

export interface Killing extends Omit<RestlessTask, "name"> {
  readonly writers: number;
  /** Resolves when the writer, which has appended something, is to be killed. */
  readonly whenToKill: (writer: Child) => Promise<void>;
}

/** Gives what the writers said of errors, and how many of their appends were acknowledged. */
export async function killWriters({ writers, whenToKill, ...task }: Killing): Promise<{
  readonly errors: string;
  readonly appends: number;
}> {
  let errors = "";
  let appends = 0;
  const start = () => new Child("./restless-writer.ts");
  let next = start();
  for (let i = 0; i < writers; i++) {
    const child = next;
    child.tell({ ...task, name: `w${i}` } satisfies RestlessTask);
    // The next one starts while this one writes: most of a short life is its start.
    if (i + 1 < writers) next = start();
    await child.until(1);
    await whenToKill(child);
    await child.kill();
    errors += child.errors;
    appends += child.said().length;
  }
  return { errors, appends };
}
