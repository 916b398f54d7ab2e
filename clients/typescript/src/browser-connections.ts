// Connections of browsers: Connect over fetch. The browser opens and closes them by itself.

import { createConnectTransport } from "@connectrpc/connect-web";
import type { OpenConnections } from "./client.ts";

export const openBrowserConnections: OpenConnections = (url, interceptors) => ({
  // Signatures cover the message as it is sent.
  transport: createConnectTransport({ baseUrl: url, interceptors, useBinaryFormat: true }),
  mark: () => () => {},
  close: () => {},
});
