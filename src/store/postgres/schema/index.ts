import { ACCESS } from "./access.ts";
import { ARCHIVE } from "./archive.ts";
import { CONVERSATIONS } from "./conversations.ts";
import { FEED } from "./feed.ts";
import { LIVE } from "./live.ts";
import { NOTES } from "./notes.ts";
import { ROUTES } from "./routes.ts";
import { ROW_SECURITY } from "./row-security.ts";
import { SEARCH } from "./search.ts";

/** The tables of the first release, in the order in which they are created. */
export const SCHEMA: string = [
  CONVERSATIONS,
  LIVE,
  FEED,
  NOTES,
  SEARCH,
  ARCHIVE,
  ACCESS,
  ROUTES,
  ROW_SECURITY,
].join("");
