/** Kills writers one after the other, each while it writes and maintains the index. */

import { Child } from "./child.ts";
import type { RestlessTask } from "./restless-writer.ts";

export interface Killing extends Omit<RestlessTask, "name"> {
  readonly writers: number;
  /** Resolves at the time of the kill, after the writer's first append. */
  readonly whenToKill: (writer: Child) => Promise<void>;
}

/** Gives the writers' standard error and the number of acknowledged appends. */
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
    // The next one starts while this one writes: start-up is most of a writer's life.
    if (i + 1 < writers) next = start();
    await child.until(1);
    await whenToKill(child);
    await child.kill();
    errors += child.errors;
    appends += child.said().length;
  }
  return { errors, appends };
}
