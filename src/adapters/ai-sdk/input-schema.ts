/**
 * The input of a tool as Standard Schema describes it, with JSON Schema:
 * https://standardschema.dev. The AI SDK accepts such objects, so it need not be installed.
 */

import { isPlainObject, type JsonObject } from "../../model/json.ts";

export interface InputSchema<Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "backscroll";
    readonly validate: (value: unknown) => ValidInput<Input> | InvalidInput;
    readonly jsonSchema: {
      readonly input: () => JsonObject;
      readonly output: () => JsonObject;
    };
    readonly types?: { readonly input: unknown; readonly output: Input } | undefined;
  };
}

interface ValidInput<Input> {
  readonly value: Input;
  readonly issues?: undefined;
}

interface InvalidInput {
  readonly issues: readonly { readonly message: string }[];
}

/** A property of the input, in JSON Schema. */
export interface Property extends JsonObject {
  readonly type: "string" | "integer";
  readonly description: string;
}

/** An object with these properties and no others. The engine checks the values. */
export function inputSchema<Input>(
  properties: Readonly<Record<string, Property>>,
  required: readonly string[],
): InputSchema<Input> {
  const schema = (): JsonObject => ({
    type: "object",
    properties: { ...properties },
    required: [...required],
    additionalProperties: false,
  });
  const validate = (value: unknown): ValidInput<Input> | InvalidInput => {
    const problem = findProblem(value, properties, required);
    return problem === undefined ? { value: value as Input } : { issues: [{ message: problem }] };
  };
  return {
    "~standard": {
      version: 1,
      vendor: "backscroll",
      validate,
      jsonSchema: { input: schema, output: schema },
    },
  };
}

function findProblem(
  value: unknown,
  properties: Readonly<Record<string, Property>>,
  required: readonly string[],
): string | undefined {
  if (!isPlainObject(value)) return "the input must be an object";
  const missing = required.find((name) => value[name] === undefined);
  if (missing !== undefined) return `${missing} is missing`;
  for (const [name, given] of Object.entries(value)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined) return `there is no ${name}`;
    const fits = property.type === "string" ? typeof given === "string" : Number.isInteger(given);
    if (given !== undefined && !fits) return `${name} must be of type ${property.type}`;
  }
  return undefined;
}
