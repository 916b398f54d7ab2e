// Writes docs/reference/rpcs.md: every RPC with its routes and the first sentence of its comment.

import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { services } from "../src/app/protocols.ts";
import { commentOf } from "../src/surfaces/openapi/comments.ts";
import { formatPath } from "../src/surfaces/openapi/parameters.ts";
import { compileBindings } from "../src/surfaces/rest/rule.ts";

export const rpcPagePath = "docs/reference/rpcs.md";

const opening = `# RPCs and routes

Every RPC is served over gRPC, gRPC-Web and Connect by its name, and over REST by the routes beside it. A route without a body rule
takes its fields from the path and the query. \`/openapi.json\` of a running service has all fields; the comments in
[proto](../../proto) have all rules and errors. \`npm run generate\` writes this page.

Besides: \`grpc.health.v1.Health\`, \`GET /livez\`, \`GET /readyz\`, \`GET /health\`, \`GET /openapi.json\`, \`GET /descriptors.binpb\`, and
gRPC reflection for callers with credentials.

\`/descriptors.binpb\` is a \`google.protobuf.FileDescriptorSet\` of the whole contract with its imports, for tools that have no protos.
Name each file that protoc is to compile, imports too:

\`\`\`sh
curl -fsS http://127.0.0.1:8090/descriptors.binpb -o runnel.binpb
grpcurl -protoset runnel.binpb -plaintext 127.0.0.1:8090 runnel.v1.SystemService/GetVersion
protoc --descriptor_set_in=runnel.binpb --python_out=. runnel/v1/run_service.proto runnel/v1/run.proto
\`\`\`
`;

export function printRpcPage(): string {
  return `${[opening, ...services.map(printService)].join("\n")}\nNext: [promises](../promises.md)\n`;
}

function printService(service: DescService): string {
  const rows = service.methods.map(
    (method) => `| ${[anchorOf(method), routesOf(method), aboutOf(method)].join(" | ")} |`,
  );
  const table = ["| RPC | REST | |", "|---|---|---|", ...rows].join("\n");
  const file = `${service.file.name}.proto`;
  const source = `All fields: [${file}](../../proto/${file})`;
  return `## ${service.typeName}\n\n${commentOf(service)}\n\n${table}\n\n${source}\n`;
}

/** Prints the name as a link to its own row. */
function anchorOf(method: DescMethod): string {
  const id = `${method.parent.name}.${method.name}`;
  return `<a id="${id}" href="#${id}">\`${method.name}\`</a>`;
}

function routesOf(method: DescMethod): string {
  const routes = compileBindings(method).map(({ httpMethod, template }) => `\`${httpMethod} ${formatPath(template)}\``);
  return routes.join("<br>");
}

/** Returns the first sentence of the comment. */
function aboutOf(method: DescMethod): string {
  const sentence = /^.*?\.(?=\s|$)/s.exec(commentOf(method) ?? "")?.[0] ?? "";
  return sentence.replaceAll("|", "\\|").replaceAll("\n", " ");
}
