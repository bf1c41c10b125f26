import { toWire } from "../../../api/shape.ts";
import type { TenantApi } from "../../../engine/interfaces.ts";
import { defined } from "../../../model/defined.ts";
import { RULE_SCOPES } from "../../../model/inputs/choices.ts";
import { RULE, RULE_LIST, type Rule, type RuleList } from "../../../model/note.ts";
import { type Command, defineCommand, option, usageError } from "../../command.ts";
import type { Context } from "../../context.ts";
import { formatTime } from "../../print.ts";
import { printList } from "../../print-list.ts";
import { withStore } from "../../store.ts";
import { clean } from "../../text.ts";
import { toChoice } from "../../values.ts";

/** As many as a person reads through; numbers count within them. */
const LISTED = 100;

const WHICH = {
  project: option("NAME", "Of this project: its folder's name, the end of its path, or its id."),
  owner: option("NAME", "Of this owner's sessions."),
} as const;

const RULE_ARGUMENT = {
  name: "RULE",
  help: "Its number in the list, its id, or its source, SESSION#N.",
} as const;

interface Which {
  readonly project?: string | undefined;
  readonly owner?: string | undefined;
}

export const rulesList: Command = defineCommand({
  name: "rules",
  summary: "List what people said that was meant to stand: rules and candidates.",
  details:
    'A candidate is a sentence such as "always run the tests first" in a person\'s own message; English. Nothing is a rule until a person accepts it. Candidates are found in the newest 50,000 messages of the newest 200 sessions.',
  options: WHICH,
  examples: ["rules", "rules --project shop"],
  run: (context, _args, options) =>
    withStore(context, "read", async (tenant) => {
      const list = await listed(tenant, options);
      const { rules, complete } = list;
      if (rules.length === LISTED) {
        context.terminal.note(`Only ${LISTED} are listed; --project or --owner narrows the list.`);
      } else if (!complete) {
        context.terminal.note(
          "Candidates of older messages were not sought; --project or --owner narrows the list.",
        );
      }
      return printList(context, {
        json: toWire(RULE_LIST, list),
        header: ["N", "STATUS", "SOURCE", "SAID", "RULE"],
        rows: rules.map((rule, i) => [
          String(i + 1),
          rule.status === "in_force" ? "in force" : "candidate",
          rule.source ?? "added",
          formatTime(rule.saidAt),
          wordsOf(rule),
        ]),
        none: "No rules in force, and no candidates.",
      });
    }),
});

export const rulesAccept: Command = defineCommand({
  name: "rules accept",
  summary: "Put a candidate into force.",
  details:
    "It holds in the project of its session or, without one, for the session's owner. A rule that says something else about the same thing is replaced.",
  arguments: [RULE_ARGUMENT],
  options: {
    ...WHICH,
    scope: option("NAME", `Where it holds: ${RULE_SCOPES.join(" or ")}.`),
  },
  examples: ["rules accept 2", "rules accept 5f0c2a91#2 --scope owner"],
  run: (context, { RULE: named }, options) =>
    withStore(context, "write", async (tenant) => {
      const id = await idOf(tenant, named, options);
      const scope = toChoice(options.scope, RULE_SCOPES, "--scope");
      await printRule(context, await tenant.acceptRule(id, defined({ scope })));
    }),
});

export const rulesReject: Command = defineCommand({
  name: "rules reject",
  summary: "Reject a candidate, or a rule in force: it does not come back.",
  arguments: [RULE_ARGUMENT],
  options: WHICH,
  examples: ["rules reject 3"],
  run: (context, { RULE: named }, options) =>
    withStore(context, "write", async (tenant) => {
      const id = await idOf(tenant, named, options);
      const rule = await tenant.rejectRule(id);
      if (context.json) return context.terminal.printJson({ rejected: toWire(RULE, rule) });
      const undo = rule.sourceEntry === null ? "" : ` rules remove ${rule.id} takes it back.`;
      await context.terminal.print(`Rejected: ${clean(rule.text)}${undo}`);
    }),
});

export const rulesRemove: Command = defineCommand({
  name: "rules remove",
  summary: "Take a rule out of force; of a rejected candidate, take the rejection back.",
  arguments: [RULE_ARGUMENT],
  options: WHICH,
  examples: ["rules remove 1"],
  run: (context, { RULE: named }, options) =>
    withStore(context, "write", async (tenant) => {
      const id = await idOf(tenant, named, options);
      await tenant.removeRule(id);
      if (context.json) await context.terminal.printJson({ removed: { rule: id } });
    }),
});

export const rulesAdd: Command = defineCommand({
  name: "rules add",
  summary: "Put a rule into force in your own words.",
  arguments: [{ name: "TEXT", rest: true, help: "The rule." }],
  options: WHICH,
  examples: ["rules add --owner ana Never commit to main."],
  run: (context, { TEXT: text }, { project, owner }) =>
    withStore(context, "write", async (tenant) => {
      if ((project === undefined) === (owner === undefined)) {
        throw usageError("a rule holds in a --project or for an --owner; give one", "--project");
      }
      await printRule(context, await tenant.addRule({ text, ...defined({ project, owner }) }));
    }),
});

function listed(tenant: TenantApi, { project, owner }: Which): Promise<RuleList> {
  return tenant.listRules({ limit: LISTED, ...defined({ project, owner }) });
}

async function idOf(tenant: TenantApi, named: string, which: Which): Promise<string> {
  if (!/^\d{1,4}$/.test(named)) return named;
  const rule = (await listed(tenant, which)).rules[Number(named) - 1];
  if (rule === undefined) throw usageError(`there is no rule ${named}; rules lists them`, "RULE");
  return rule.id;
}

async function printRule({ terminal, json }: Context, rule: Rule): Promise<void> {
  if (json) await terminal.printJson(toWire(RULE, rule));
  else await terminal.print(`In force: ${wordsOf(rule)}`);
}

function wordsOf({ text, replaces, project, owner }: Rule): string {
  const where = project === null ? `for ${owner}` : `in ${project}`;
  const older = replaces === null ? "" : `; replaces: ${replaces}`;
  return clean(`${text} (${where}${older})`);
}
