// The page of a site in React, which `stage.ts` bundles with the packed package.

import { RunnelChat } from "@runnel/chat/react";
import { createElement, StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";

const german = { send: "Senden", message: "Nachricht", agent: "Antwort" };

function Page({ endpoint }) {
  const [conversation, setConversation] = useState("first");
  const [waiting, setWaiting] = useState("");
  return createElement(
    "main",
    {},
    createElement("button", { onClick: () => setConversation("second") }, "Another one"),
    createElement("output", {}, waiting),
    createElement(RunnelChat, {
      endpoint,
      conversation,
      className: "chat",
      words: german,
      // Another function in each render.
      backend: (request, signal) => fetch("/chat", { method: "POST", body: JSON.stringify(request), signal }),
      onWaiting: ({ approvals }) => setWaiting(approvals.map(({ tool_name }) => tool_name).join()),
    }),
  );
}

const root = document.querySelector("#root");
createRoot(root).render(createElement(StrictMode, {}, createElement(Page, { endpoint: root.dataset.endpoint })));
