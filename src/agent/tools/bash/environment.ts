// The complete environment of a command, as in the service of the Agent Runner document. It contains nothing of this service.

import { join } from "node:path";

/** Returns a session's home and temporary directory: `/tmp/agent-runner/s1`. Ids are letters, digits, `-` and `_`. */
export function tempDirectoryOf(systemTemp: string, sessionId: string): string {
  return join(systemTemp, "agent-runner", sessionId);
}

/** Returns the environment variables of a command. */
export function environmentOf(tempDirectory: string): Readonly<Record<string, string>> {
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: tempDirectory,
    TMPDIR: tempDirectory,
    TMP: tempDirectory,
    TEMP: tempDirectory,
    LANG: "C.UTF-8",
    LC_ALL: "C.UTF-8",
    TERM: "dumb",
    http_proxy: "",
    https_proxy: "",
    HTTP_PROXY: "",
    HTTPS_PROXY: "",
    ALL_PROXY: "",
    NO_PROXY: "*",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
  };
}
