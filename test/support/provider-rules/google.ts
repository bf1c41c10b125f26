/** The rules of Google's Gemini API for contents, as its documentation and its errors state them. */

import {
  type Expect,
  expectAnswers,
  expectIds,
  isBase64,
  isBlank,
  isObject,
  objects,
  string,
  violations,
  type Wire,
} from "./wire.ts";

export function googleViolations(rendered: unknown): string[] {
  return violations(rendered, (context, expect) => {
    const contents = objects(context["contents"]);
    contents.forEach((content, i) => {
      const before = contents[i - 1];
      const parts = objects(content["parts"]);
      expect(/^(?:user|model)$/.test(string(content["role"])), "no such role");
      expect(i > 0 || content["role"] === "user", "a model begins");
      expect(parts.length > 0, "a content is empty");
      for (const part of parts) checkPart(part, string(content["role"]), expect);
      const responses = members(parts, "functionResponse");
      expect(
        responses.length === 0 || responses.length === parts.length,
        "a turn of responses holds something else",
      );
      expectPairs(members(objects(before?.["parts"]), "functionCall"), responses, expect);
      if (content["role"] !== before?.["role"]) return;
      // A user's text after function responses is a separate turn: the two may not be mixed.
      const answered = members(objects(before?.["parts"]), "functionResponse").length > 0;
      expect(content["role"] === "user" && answered, "two turns of one role");
    });
    const last = objects(contents.at(-1)?.["parts"]);
    expect(members(last, "functionCall").length === 0, "the last call has no response");
    const calls = contents.flatMap((content) => members(objects(content["parts"]), "functionCall"));
    expectIds(
      calls.map((call) => call["id"]),
      /^[a-zA-Z0-9]{1,40}$/,
      expect,
    );
  });
}

function members(parts: readonly Wire[], field: string): Wire[] {
  return parts.map((part) => part[field]).filter(isObject);
}

/** Gemini matches by name and by number; with ids, also by those. */
function expectPairs(calls: readonly Wire[], responses: readonly Wire[], expect: Expect): void {
  for (const field of ["id", "name"]) {
    expectAnswers(
      calls.map((call) => call[field]),
      responses.map((response) => response[field]),
      expect,
    );
  }
}

function checkPart(part: Wire, role: string, expect: Expect): void {
  const { text, functionCall, functionResponse, inlineData, fileData, thoughtSignature } = part;
  if (thoughtSignature !== undefined) {
    expect(role === "model" && isBase64(thoughtSignature), "a signature is not base64");
  }
  if (typeof text === "string") expect(!isBlank(text) || part["thought"] === true, "a blank part");
  else if (isObject(functionCall)) {
    expect(role === "model", "a user calls a function");
    expect(isObject(functionCall["args"]), "args are no object");
    expect(/^[a-zA-Z_][\w.:-]{0,63}$/.test(string(functionCall["name"])), "a name is refused");
  } else if (isObject(functionResponse)) {
    expect(role === "user", "a model answers a function");
    expect(isObject(functionResponse["response"]), "a response is no object");
  } else if (isObject(inlineData)) {
    expect(isBase64(inlineData["data"]), "data are not base64");
    expect(/^image\/\w+$/.test(string(inlineData["mimeType"])), "data have no type");
  } else if (isObject(fileData)) {
    expect(/^(?:https|gs):\/\//.test(string(fileData["fileUri"])), "a file has no address");
  } else {
    expect(role === "model" && isObject(part["executableCode"]), "no such part");
  }
}
