// Fills third_party/, the git-ignored module of protos that are not ours, from pinned npm packages. Nothing reads the folder at
// run time.

import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { printValidateProto } from "./print-validate-proto.ts";
import { repositoryRoot, runCommand } from "./run-command.ts";

/** The protos that ours import, and the imports of those in turn. google/protobuf comes with buf. */
const googleProtos = [
  "google/api/annotations.proto",
  "google/api/field_behavior.proto",
  "google/api/http.proto",
  "google/api/httpbody.proto",
  "google/rpc/code.proto",
  "google/rpc/error_details.proto",
  "google/rpc/status.proto",
];

const googleProtoSource = join(repositoryRoot, "node_modules/google-gax/build/protos");
/** The path of each of gRPC's own protos, and its path in the package. */
const grpcProtos = [
  ["grpc/health/v1/health.proto", "grpc-health-check/proto/health/v1/health.proto"],
  ["grpc/reflection/v1/reflection.proto", "@grpc/reflection/build/proto/grpc/reflection/v1/reflection.proto"],
  ["grpc/reflection/v1alpha/reflection.proto", "@grpc/reflection/build/proto/grpc/reflection/v1alpha/reflection.proto"],
] as const;
const thirdPartyFolder = join(repositoryRoot, "third_party");

/** Replaces third_party/ as a whole, so that a proto which was dropped from the list does not stay. */
export async function fillThirdParty(): Promise<void> {
  await rm(thirdPartyFolder, { recursive: true, force: true });
  for (const path of googleProtos) {
    await cp(join(googleProtoSource, path), join(thirdPartyFolder, path));
  }
  for (const [path, source] of grpcProtos) {
    await cp(join(repositoryRoot, "node_modules", source), join(thirdPartyFolder, path));
  }
  const validateProto = join(thirdPartyFolder, "buf/validate/validate.proto");
  await mkdir(dirname(validateProto), { recursive: true });
  await writeFile(validateProto, printValidateProto());
  await runCommand("buf", ["format", "-w", "third_party", "--path", "third_party/buf"]);
}
