// Requests that tests of exchanges share.

import type { Exchanges } from "./transports.ts";

/** An inbox that leaves a file behind when it is executed. */
export const createFile = '[CREATE_FILE path="made.txt"]\nmade\n[/CREATE_FILE]\n';

/** Every call that names an exchange. */
export const named: Readonly<Record<string, (api: Exchanges, id: string) => Promise<unknown>>> = {
  GetExchange: (api, id) => api.get(id),
  GetOutbox: (api, id) => api.readOutbox(id),
  SubmitInbox: (api, exchangeId) => api.submit({ exchangeId, text: createFile }),
  ExportExchange: (api, id) => api.export(id),
};

/** A valid session to import. */
export const session = {
  sessionId: "0123abcd",
  task: "a task",
  sequenceNumber: 2,
  lastResults: [{ commandType: "MESSAGE", summary: "hi", success: true }],
  readFileRequests: ["here.txt"],
};
