import type { EmbedEstimate, EmbedProgress } from "../../../engine/embeddings/embed-stored.ts";
import type { Engine } from "../../../engine/engine.ts";
import { type Command, defineCommand, usageError } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT } from "../../exit.ts";
import { counted, formatCount } from "../../print.ts";
import { Progress } from "../../progress.ts";
import { askYesNo, canAsk } from "../../setup/ask.ts";
import { refuseServer, withOwnEngine } from "../../store.ts";
import { toCount } from "../../values.ts";

export const embed: Command = defineCommand({
  name: "embed",
  summary: "Embed stored messages without a vector, for search by meaning.",
  details:
    "BACKSCROLL_EMBED_URL and BACKSCROLL_EMBED_MODEL name a server with /v1/embeddings and a model there, BACKSCROLL_EMBED_KEY its key, BACKSCROLL_EMBED_DIMENSIONS the size of its vectors; BACKSCROLL_EMBED_MODEL=local is a model on this machine. A process with an embedder embeds new messages itself; this command embeds the older ones. It first estimates vectors, tokens, minutes and dollars, and asks; after an interruption it resumes. --yes is needed with --json and without a terminal. ~/.backscroll/config.json may name the same as embedder.url, embedder.model and embedder.dimensions.",
  options: {
    estimate: { type: "boolean", help: "Only print the estimated cost." },
    yes: { type: "boolean", help: "Do not ask." },
    limit: { type: "string", value: "N", help: "Stop after about this many vectors." },
    again: {
      type: "boolean",
      help: "Make all vectors again. Only this changes the embedder of a store.",
    },
  },
  examples: ["embed --estimate", "embed --limit 10000 --yes", "embed --again --yes"],
  run: async (context, _args, options) => {
    refuseServer(context, "embed", "run it where the store is");
    const { again = false, estimate: isEstimate = false, yes = false } = options;
    if (!isEstimate && !yes && (context.json || !canAsk())) {
      throw usageError(
        "embed asks before it begins, which needs a terminal and no --json; add --yes to begin, or --estimate to see what it would take",
        "--yes",
      );
    }
    const limit = toCount(options.limit, "--limit");
    return withOwnEngine(context, async (engine) => {
      const tenants = context.tenantNamed ? [context.tenant] : await engine.listTenants();
      const shown = [];
      for (const tenant of tenants) {
        const estimate = await engine.estimateEmbedding({ tenant, again });
        if (!context.json) await context.terminal.print(`${tenant}: ${formatEstimate(estimate)}`);
        const begins =
          !isEstimate &&
          estimate.changes > 0 &&
          (yes || (await askYesNo(`Make them for ${tenant}?`)));
        const done = !begins
          ? undefined
          : await embedTenant(context, engine, {
              tenant,
              again,
              ...(limit === undefined ? {} : { limit }),
            });
        shown.push({ tenant, ...toWire(estimate), embedded: done?.vectors ?? 0 });
      }
      if (context.json) await context.terminal.printJson(shown);
      return EXIT.ok;
    });
  },
});

async function embedTenant(
  context: Context,
  engine: Engine,
  input: { readonly tenant: string; readonly again: boolean; readonly limit?: number },
): Promise<EmbedProgress> {
  const progress = new Progress();
  const started = Date.now();
  try {
    const done = await engine.embedStored({
      ...input,
      onProgress: ({ vectors, changes, total }) => {
        const left = ((Date.now() - started) / changes) * (total - changes);
        const minutes = Math.ceil(left / 60_000);
        progress.show(
          () =>
            `${formatCount(vectors)} vectors, ${formatCount(changes)} of ${formatCount(total)} changes, about ${counted(minutes, "minute")} left`,
        );
      },
    });
    progress.end();
    const { tenant } = input;
    if (!context.json) {
      const left = done.total - done.changes;
      const rest = left === 0 ? "nothing is left" : `${counted(left, "change")} left`;
      await context.terminal.print(`${tenant}: ${counted(done.vectors, "vector")} made, ${rest}`);
    }
    return done;
  } finally {
    progress.end();
  }
}

function formatEstimate(estimate: EmbedEstimate): string {
  const { embedder, changes, vectors, tokens, cost, seconds } = estimate;
  if (changes === 0) return `everything has vectors of ${embedder}`;
  const price = cost === null ? "a price that is not known" : `about $${cost.toFixed(2)}`;
  return `${counted(changes, "change")} to look at, about ${counted(vectors, "vector")} of ${embedder}, ${formatCount(tokens)} tokens, about ${counted(Math.ceil(seconds / 60), "minute")}, ${price}`;
}

function toWire({ embedder, changes, vectors, tokens, cost, seconds }: EmbedEstimate): object {
  return { embedder, changes, vectors, tokens, cost_usd: cost, seconds };
}
