import { render } from "preact";
import { App, applyTheme } from "./app.tsx";
import { address } from "./data/address.ts";
import { isGranted, start } from "./data/connection.ts";
import { takeEarlyAnswers } from "./data/early-requests.ts";
import { countByAddress } from "./find/filters.ts";
import { searchByAddress } from "./find/search.ts";
import { listByAddress } from "./find/session-list.ts";
import { loadReaderWhenIdle, viewOf } from "./lazy-views.ts";

applyTheme();
takeEarlyAnswers(isGranted());
const opened = start();
// With a grant in the document, `start` resolves without a request, and the view's data is requested
// before the first render. Without one, the search box is rendered while the server checks the access.
if (isGranted()) await opened;
searchByAddress();
listByAddress();
countByAddress();
loadReaderWhenIdle();
const { view } = address.peek();
if (view !== "find") viewOf(view);
const place = document.getElementById("page");
if (place !== null) render(<App />, place);
