import { render } from "preact";
import { App } from "./app.tsx";
import { start } from "./data/connection.ts";
import { applyTheme } from "./parts/theme.ts";

applyTheme();
// Sends the first request before rendering.
void start();
const place = document.getElementById("page");
if (place !== null) render(<App />, place);
