/** A template of an entry for tests: a user's message without content. */

import type { Entry } from "./entry.ts";

export const SAMPLE_ENTRY: Entry = {
  id: "e1",
  sessionId: "s1",
  externalId: null,
  sequence: 1,
  parentId: null,
  kind: "message",
  role: "user",
  actor: null,
  status: "committed",
  blocks: [],
  data: null,
  raw: null,
  index: 0,
  usage: null,
  model: null,
  adapter: null,
  supersededBy: null,
  copiedFrom: null,
  pinned: false,
  metadata: {},
  createdAt: 0,
  hash: null,
  truncated: false,
  erased: false,
};
