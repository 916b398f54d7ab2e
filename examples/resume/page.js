// page.js
import { followSession } from "./session.js";

/** Resolves with the data of `done`, however long the run takes. At `ticketUrl` the page's own server makes a ticket. */
export function followWithTickets(streamUrl, ticketUrl, show) {
  const openUrl = async (after) => {
    const response = await fetch(ticketUrl, { method: "POST" });
    if (!response.ok) {
      throw new Error(`no ticket: ${response.status}`);
    }
    const { ticket } = await response.json();
    return `${streamUrl}?${new URLSearchParams({ ticket, after })}`;
  };
  return followSession(openUrl, show);
}
