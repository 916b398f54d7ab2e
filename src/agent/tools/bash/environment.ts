// The whole environment of a command, as the Agent Runner document's service has it. Nothing of the service's own is in it.

import { join } from "node:path";

/** Home and place for temporary files of a session's commands. Session ids are letters, digits, dashes and underscores. */
export function tempDirectoryOf(systemTemp: string, sessionId: string): string {
  return join(systemTemp, "agent-runner", sessionId);
}

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
