// What judges the shell blocks of the pages. A block with a name (```sh name) is pasted by a test as it is. Each other block is here, in
// the order of its page: the test that does the same, or why none can.

const recipe = "test/recipes/recipes.test.ts";
const recipeInPython = "test/external/recipes.test.ts";

/** A test file, or a sentence that begins with "needs". */
export const unnamedBlocks: Readonly<Record<string, readonly string[]>> = {
  "CONTRIBUTING.md": ["needs hours: the commands are those of .ci/run and of a release"],
  "README.md": [
    "needs a clean clone: .ci/run begins with these commands; test/cli/demo.test.ts",
    "test/cli/stop.test.ts",
    "test/external/package.test.ts",
    "test/external/first-calls.test.ts",
  ],
  "clients/chat/README.md": ["test/external/chat/package.test.ts"],
  "clients/go/README.md": ["test/external/go-client.test.ts"],
  "clients/java/README.md": ["test/external/java-client.test.ts"],
  "clients/langbot/README.md": ["test/external/runners/install.test.ts"],
  "clients/python/README.md": ["test/external/python-client.test.ts"],
  "clients/rust/README.md": ["test/external/clients/rust.test.ts"],
  "clients/typescript/README.md": ["test/external/clients/typescript.test.ts"],
  "docs/call/anthropic.md": ["test/external/anthropic/claude-code.test.ts"],
  "docs/call/curl.md": ["test/external/first-calls.test.ts"],
  "docs/call/go.md": [
    "test/external/go-client.test.ts",
    "needs the newest versions of modules: test/external/first-calls.test.ts has pinned ones",
  ],
  "docs/call/mcp.md": ["test/cli/dev.test.ts", "test/external/mcp/mcp.test.ts"],
  "docs/call/python.md": ["test/external/contract.test.ts"],
  "docs/call/typescript.md": ["test/external/package.test.ts"],
  "docs/coding-agents.md": ["test/external/acp/agents.test.ts"],
  "docs/decision-cycles.md": ["needs a community: test/config/start-checks.test.ts knows the variables"],
  "docs/deployment.md": [
    "needs a container engine: test/deploy checks the files",
    "needs systemd: test/deploy checks the unit",
    "test/external/binary.test.ts",
    "needs Docker Swarm: test/deploy checks the files",
    "needs a cluster: test/deploy checks the files",
  ],
  "docs/mcp-servers.md": [
    "test/external/mcp-servers/page.test.ts",
    "test/external/mcp-servers/page.test.ts",
    "test/external/mcp-servers/page.test.ts",
    "test/external/mcp-servers/page.test.ts",
  ],
  "docs/operations/backup.md": [
    "needs pg_dump of the server's version",
    "needs a stopped service, whose files it copies",
    "needs pg_dump of the server's version",
    "needs pg_restore of the server's version",
    "needs psql of the server's version, and a person",
    "needs two servers, of which one replicates logically",
  ],
  "docs/operations/cells.md": ["test/ha/cells.test.ts"],
  "docs/operations/failover.md": ["test/ha/failover.test.ts", "test/ha/failover.test.ts"],
  "docs/performance.md": ["needs minutes of two idle cores: test/bench"],
  "docs/reference/cli.md": [
    "test/cli/login.test.ts",
    "test/cli/journeys.test.ts",
    "test/cli/signing.test.ts",
    "test/cli/jobs.test.ts",
    "test/cli/completion.test.ts",
  ],
  "docs/reference/rpcs.md": ["needs grpcurl and protoc: test/services/descriptor-set.test.ts judges the file"],
  "docs/signed-jobs.md": ["test/jobs/job-cases.test.ts"],
  "docs/tools-bash.md": ["needs the package manager of the machine: test/cli/doctor.test.ts"],
  "examples/recipes/README.md": ["needs npm and pip: the tests of each recipe take the libraries from the checkout"],
  "examples/recipes/browser-chat/README.md": ["test/external/browser-chat.test.ts"],
  "examples/recipes/code-review/README.md": [recipe],
  "examples/recipes/cost-limits/README.md": [recipe],
  "examples/recipes/from-langgraph/README.md": [recipeInPython],
  "examples/recipes/from-openai-assistants/README.md": [recipeInPython],
  "examples/recipes/from-temporal/README.md": [recipe],
  "examples/recipes/knowledge-base/README.md": [recipeInPython],
  "examples/recipes/nightly-report/README.md": [recipe],
  "examples/recipes/slack-bot/README.md": [recipe],
  "examples/recipes/tenants/README.md": [recipe],
};

/** The files that paste the named blocks of a page. */
export const namedBlocks: Readonly<Record<string, readonly string[]>> = {
  "clients/README.md": ["test/docs/shell-pages.test.ts"],
  "docs/authentication.md": ["test/docs/shell-pages.test.ts"],
  "docs/call/acp.md": ["test/docs/shell-pages.test.ts"],
  "docs/call/mcp.md": ["test/docs/shell-pages.test.ts"],
  "docs/compatibility.md": ["test/docs/shell-pages.test.ts"],
  "docs/deployment.md": ["test/deploy/secrets.test.ts"],
  "docs/exchanges.md": ["test/cli/exchange.test.ts"],
  "docs/first-tasks.md": ["test/cli/journeys.test.ts", "test/cli/person.ts"],
  "docs/forum.md": ["test/docs/shell-pages.test.ts"],
  "docs/large-tasks.md": ["test/docs/shell-pages.test.ts"],
  "docs/reference/cli.md": ["test/docs/shell-pages.test.ts"],
  "docs/runners.md": ["test/cli/runners.test.ts"],
  "docs/shaped-runs.md": ["test/docs/shell-pages.test.ts"],
  "docs/signed-jobs.md": ["test/cli/jobs.test.ts"],
  "docs/tools.md": ["test/docs/shell-pages.test.ts"],
};
