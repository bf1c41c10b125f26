/** Setup file of built runs; the imported module runs once per worker. */

import "./thread-redirect.ts";
