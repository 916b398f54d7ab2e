// The page of the chat. It shows `run.text` after each result, as a text gets shorter when a replica dies in mid-sentence.

import { connect, RunnelError } from "@runnel/client/browser";

const input = document.querySelector("input");
const { sessionId } = await post("/sessions", {});

document.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const message = input.value;
  input.value = "";
  addLine("you").textContent = message;
  void show(message, addLine("agent"));
});
input.disabled = false;
input.focus();

async function show(message, line) {
  let { runId, ticket, url } = await post("/messages", { sessionId, message });
  for (;;) {
    const run = connect(url, { ticket }).follow(runId);
    try {
      for await (const _ of run) {
        line.textContent = run.text;
      }
      return;
    } catch (error) {
      // A ticket is valid for reconnects for 15 minutes. The next one reads the text from its beginning.
      if (!(error instanceof RunnelError && error.reason === "TICKET_INVALID")) {
        throw error;
      }
      ({ ticket } = await post("/tickets", { sessionId, runId }));
    }
  }
}

function addLine(by) {
  const line = document.createElement("p");
  line.className = by;
  document.querySelector("main").append(line);
  return line;
}

async function post(path, body) {
  const response = await fetch(path, { method: "POST", body: JSON.stringify(body) });
  if (!response.ok) {
    throw new Error(`${path}: ${response.status}`);
  }
  return await response.json();
}
