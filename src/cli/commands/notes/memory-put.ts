import { toWire } from "../../../api/shape.ts";
import { MEMORY } from "../../../model/note.ts";
import { type Command, defineCommand } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { readText } from "../../stdin.ts";
import { withStore } from "../../store.ts";
import { given, toJsonObject } from "../../values.ts";

export const memoryPut: Command = defineCommand({
  name: "memory put",
  summary: "Write a note, replacing one of the same name. At most 8 KiB.",
  arguments: [
    { name: "AGENT", help: "The agent that keeps it." },
    { name: "NAME", help: "The note's name." },
    { name: "TEXT", optional: true, help: "The text; standard input if it is - or left out." },
  ],
  options: {
    metadata: { type: "string", value: "JSON", help: "A JSON object to keep with it." },
  },
  examples: ['memory put coder deploy-steps "Run the migration first."'],
  run: async (context, args, options) => {
    const metadata = toJsonObject(options.metadata, "--metadata");
    const content = await readText(args.TEXT, context.terminal);
    return withStore(context, "create", async (tenant) => {
      const memory = await tenant.putMemory({
        agent: args.AGENT,
        name: args.NAME,
        content,
        ...given({ metadata }),
      });
      if (context.json) await context.terminal.printJson(toWire(MEMORY, memory));
      return EXIT.ok;
    });
  },
});
