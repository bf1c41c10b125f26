/** The entry of a process that runs one scenario once: `fresh-process.ts MODULE NAME`. */

const [module = "", name = ""] = process.argv.slice(2);

process.once("message", (message: { task: unknown }) => {
  void run(message.task);
});

async function run(task: unknown): Promise<void> {
  const scenarios = (await import(module)) as Record<string, (task: unknown) => Promise<unknown>>;
  const scenario = scenarios[name];
  if (scenario === undefined) throw new Error(`${module} has no scenario ${name}`);
  const figures = await scenario(task);
  process.send?.(figures, () => process.disconnect());
}
