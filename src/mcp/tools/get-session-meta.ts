import { z } from "zod";
import { maskSession } from "../../api/mask.ts";
import { ABOUT_RECALLED } from "../../api/memory-words.ts";
import { toWireSession } from "../../api/session.ts";
import { quoteConversation } from "../../context/quote.ts";
import { WIRE_SESSION } from "../views/session-view.ts";
import { ABOUT, EXAMPLE_ID, SESSION_ID, TRUNCATED } from "./fields.ts";
import { defineTool, type Tool } from "./tool.ts";

export const getSessionMeta: Tool = defineTool({
  name: "get_session_meta",
  title: "What is known of a conversation",
  description:
    "All that is known of a conversation without reading it: title, summary, counts, origin.",
  scope: "read",
  input: z.object({ session_id: SESSION_ID }),
  example: { session_id: EXAMPLE_ID },
  output: z.object({ about: ABOUT, session: WIRE_SESSION, truncated: TRUNCATED }),
  run: async ({ tenant }, { session_id }) => {
    const session = toWireSession(maskSession(await tenant.getSessionMeta(session_id)));
    return { about: ABOUT_RECALLED, session, truncated: null };
  },
  toText: ({ about, session }) => {
    const known = Object.entries(session).filter(([, value]) => value !== null && value !== "");
    const lines = known.map(([name, value]) =>
      typeof value === "string" ? `${name}: ${value}` : `${name}: ${JSON.stringify(value)}`,
    );
    return quoteConversation(about, lines.join("\n"));
  },
});
