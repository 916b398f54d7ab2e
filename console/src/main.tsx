// Starts the console.

import { createRoot } from "react-dom/client";
import { App, askFirst } from "./app.tsx";
import { applyTheme } from "./lib/preferences.ts";
import "./style/tokens.css";
import "./style/base.css";
import "./style/components.css";
import "./style/frame.css";
import "./style/runs.css";
import "./style/run.css";
import "./style/compare.css";
import "./style/evaluate.css";
import "./style/sessions.css";
import "./style/tree.css";
import "./style/new-run.css";
import "./style/proof.css";
import "./style/approvals.css";
import "./style/exchanges.css";
import "./style/callbacks.css";
import "./style/share.css";
import "./style/jobs.css";
import "./style/runners.css";
import "./style/mcp.css";
import "./style/usage.css";
import "./style/forum.css";
import "./style/service.css";

const root = document.getElementById("console");
if (root === null) {
  throw new Error("the page has no element #console");
}
applyTheme();
// The first rendering has the list, before the scripts, the calls and the streams that it begins. A person sees no delay of 100 ms.
void Promise.race([askFirst(), new Promise((resolve) => setTimeout(resolve, 100))]).then(() =>
  createRoot(root).render(<App />),
);
