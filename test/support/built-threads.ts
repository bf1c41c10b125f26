/** Vitest loads this before each file of a built run; the module that it imports runs once a worker. */

import "./thread-redirect.ts";
