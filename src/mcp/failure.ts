/** Errors over MCP: a code, a sentence, details. Never a stack. */

import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import { toWireError, type WireError } from "../api/error.ts";
import { BackscrollError, type ErrorCode } from "../model/errors.ts";
import type { McpHost } from "./host.ts";

const NOT_FOUND: readonly ErrorCode[] = ["session_not_found", "entry_not_found"];

/** A failed tool's answer. The text is JSON, for models and programs alike. */
export function toToolFailure(error: unknown, host: McpHost): CallToolResult {
  const text = JSON.stringify(describeFailure(error, host));
  return { content: [{ type: "text", text }], isError: true };
}

/** For requests other than tool calls. */
export function toProtocolFailure(error: unknown, host: McpHost, uri?: string): ProtocolError {
  if (error instanceof ProtocolError) return error;
  const { error: failure } = describeFailure(error, host);
  if (uri !== undefined && BackscrollError.is(error) && NOT_FOUND.includes(error.code)) {
    return new ResourceNotFoundError(uri, failure.message);
  }
  const code =
    failure.code === "internal_error"
      ? ProtocolErrorCode.InternalError
      : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(code, failure.message, failure);
}

/** For a URI that names no resource of ours. */
export function noSuchResource(uri: string): ProtocolError {
  const message = `there is no resource ${JSON.stringify(uri.slice(0, 120))}; there are session://ID and session://ID/messages?offset=0&limit=20, with the ID of a session as list_sessions gives it`;
  return new ResourceNotFoundError(uri, message);
}

/** A bug's message may hold anything: the host gets it, the caller gets a general sentence. */
function describeFailure(error: unknown, host: McpHost): WireError {
  if (BackscrollError.is(error)) return toWireError(error);
  host.onError?.(error);
  const message = "internal error of Backscroll; its operator can see the cause";
  return { error: { code: "internal_error", message, details: {} } };
}
