import { render } from "preact";
import { App } from "./app.tsx";
import { start } from "./data/connection.ts";
import { applyTheme } from "./parts/theme.ts";

applyTheme();
// The server is asked before anything is drawn: the answer is on its way meanwhile.
void start();
const place = document.getElementById("page");
if (place !== null) render(<App />, place);
