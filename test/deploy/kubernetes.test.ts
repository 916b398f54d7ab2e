// The manifests: valid by the API's own schema, without unknown keys, and consistent with the settings, the image and each
// other.

import { execFile } from "node:child_process";
import { readdir, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import type { Deployment, IDeployment } from "kubernetes-models/apps/v1/Deployment";
import type { INetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
import type { IPodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import type { IConfigMap } from "kubernetes-models/v1/ConfigMap";
import type { ISecret } from "kubernetes-models/v1/Secret";
import type { IService } from "kubernetes-models/v1/Service";
import type { IServiceAccount } from "kubernetes-models/v1/ServiceAccount";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { openFolder } from "../fixtures.ts";
import {
  type Manifest,
  readManifests,
  readText,
  secretVariables,
  servedPort,
  stopSecondsOf,
  unknownVariables,
} from "./deployed.ts";
import { wordsOfImage } from "./dockerfile.ts";

const folder = "deploy/kubernetes";

interface Kustomization {
  readonly resources: readonly string[];
  readonly patches?: readonly { readonly path: string }[];
}

const kustomization = parse(readText(`${folder}/kustomization.yaml`)) as Kustomization;
const jailPatch = `${folder}/jail/deployment.yaml`;
const paths = [...kustomization.resources, "secret.example.yaml"].map((name) => `${folder}/${name}`);
const manifests = paths.flatMap(readManifests);

test("the kustomization names every manifest except the example of a Secret", async () => {
  const files = (await readdir(join(repositoryRoot, folder))).filter((name) => name.endsWith(".yaml"));
  expect(files.filter((name) => !paths.map((path) => basename(path)).includes(name))).toEqual(["kustomization.yaml"]);
  const jail = parse(readText(`${folder}/jail/kustomization.yaml`)) as Kustomization;
  expect(jail).toMatchObject({ resources: [".."], patches: [{ path: basename(jailPatch) }] });
});

test("each manifest is valid for Kubernetes", async () => {
  for (const manifest of manifests) {
    await validate(manifest);
  }
  await expect(validate({ ...findDeployment(), spec: {} } as Manifest)).rejects.toThrow("selector");
});

test("no manifest has a key that Kubernetes does not know", async () => {
  expect(await findTypeErrors([...manifests, ...readManifests(jailPatch).map(completeJailPatch)])).toEqual([]);
  const { spec, ...rest } = findDeployment();
  const misspelt = { ...rest, spec: { ...spec, terminationGracePeriod: 1 } } as unknown as Manifest;
  expect(await findTypeErrors([misspelt])).toEqual([expect.stringContaining("terminationGracePeriod")]);
});

test("a stop has enough time: preStop, readiness off, drain, and the disconnect from the database", () => {
  const { terminationGracePeriodSeconds = 30, containers } = podOf(findDeployment());
  const [sleep, seconds] = containers[0]?.lifecycle?.preStop?.exec?.command ?? [];
  expect(sleep).toBe("sleep");
  const stopSeconds = stopSecondsOf(find<IConfigMap>("ConfigMap").data ?? {});
  expect(terminationGracePeriodSeconds).toBeGreaterThan(Number(seconds) + stopSeconds);
});

test("settings are known ones, and secrets come as files of the Secret", () => {
  const { env = [], envFrom = [], volumeMounts = [] } = containerOf(findDeployment());
  const config = find<IConfigMap>("ConfigMap");
  const secret = find<ISecret>("Secret");
  expect(envFrom).toEqual([{ configMapRef: { name: config.metadata?.name } }]);
  const names = [...env.map(({ name }) => name), ...Object.keys(config.data ?? {})];
  expect(unknownVariables(names)).toEqual([]);
  expect(secretVariables(names)).toEqual([]);
  const mount = volumeMounts.find(({ name }) => name === "secrets")?.mountPath;
  expect(env.map(({ value }) => value).sort()).toEqual(
    Object.keys(secret.stringData ?? {})
      .map((key) => `${mount}/${key}`)
      .sort(),
  );
  const { volumes = [] } = podOf(findDeployment());
  expect(volumes.find(({ name }) => name === "secrets")?.secret?.secretName).toBe(secret.metadata?.name);
  expect(Object.values(secret.stringData ?? {}).filter((value) => value !== "")).toEqual([]);
});

test("ports agree, and probes use endpoints of the service", () => {
  const { ports = [], startupProbe, readinessProbe, livenessProbe } = containerOf(findDeployment());
  const metricsPort = Number(find<IConfigMap>("ConfigMap").data?.RUNNEL_METRICS_PORT);
  expect(Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort]))).toEqual({
    http: servedPort,
    metrics: metricsPort,
  });
  const annotations = findDeployment().spec?.template.metadata?.annotations;
  expect(annotations?.["prometheus.io/port"]).toBe(String(metricsPort));
  const asked = [startupProbe, readinessProbe, livenessProbe].map((probe) => probe?.httpGet);
  expect(asked).toMatchObject([
    { path: "/readyz", port: "http" },
    { path: "/readyz", port: "http" },
    { path: "/livez", port: "http" },
  ]);
  expect(find<IService>("Service").spec?.ports).toMatchObject([{ port: servedPort, targetPort: "http" }]);
});

test("the pod is unprivileged, on a read-only root, with the image's user and volume, and no token", () => {
  const pod = podOf(findDeployment());
  const [user, group] = wordsOfImage("USER").split(":").map(Number);
  expect(pod.securityContext).toMatchObject({
    runAsNonRoot: true,
    runAsUser: user,
    runAsGroup: group,
    fsGroup: group,
    seccompProfile: { type: "RuntimeDefault" },
  });
  const { securityContext, volumeMounts = [], resources } = containerOf(findDeployment());
  expect(securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  const writable = volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath);
  expect(writable.sort()).toEqual(["/tmp", wordsOfImage("VOLUME")]);
  expect(resources?.limits?.memory).toBeDefined();
  const account = find<IServiceAccount>("ServiceAccount");
  expect(pod).toMatchObject({ serviceAccountName: account.metadata?.name, automountServiceAccountToken: false });
  expect(account.automountServiceAccountToken).toBe(false);
});

test("all selectors match the deployment's pods, and an update removes no pod before another is ready", () => {
  const { spec } = findDeployment();
  const labels = spec?.template.metadata?.labels;
  const budget = find<IPodDisruptionBudget>("PodDisruptionBudget").spec;
  const policy = find<INetworkPolicy>("NetworkPolicy").spec;
  const selectors = [
    spec?.selector.matchLabels,
    spec?.template.spec?.topologySpreadConstraints?.[0]?.labelSelector?.matchLabels,
    find<IService>("Service").spec?.selector,
    budget?.selector?.matchLabels,
    policy?.podSelector?.matchLabels,
  ];
  for (const selector of selectors) {
    expect(selector).toEqual(labels);
  }
  expect(spec?.strategy?.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
  expect(Number(spec?.replicas)).toBeGreaterThan(Number(budget?.maxUnavailable));
});

test("the network admits callers, metrics to one namespace, and no traffic to the address of clouds' credentials", () => {
  const { policyTypes, ingress = [], egress = [] } = find<INetworkPolicy>("NetworkPolicy").spec ?? {};
  expect(policyTypes).toEqual(["Ingress", "Egress"]);
  const entries = ingress.map(({ from, ports = [] }) => [from === undefined, ports.map(({ port }) => port)]);
  expect(entries).toEqual([
    [true, ["http"]],
    [false, ["metrics"]],
  ]);
  const wide = egress
    .flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock ?? []))
    .filter(({ cidr }) => /\/0$/.test(cidr));
  expect(wide.map(({ except = [] }) => except[0])).toEqual(["169.254.0.0/16", "fe80::/10"]);
});

test("by default the cluster's confinement is complete; the exceptions for the jail are an overlay", () => {
  expect(podOf(findDeployment()).hostUsers).toBeUndefined();
  const [patch] = readManifests(jailPatch) as IDeployment[];
  expect(patch?.metadata?.name).toBe(findDeployment().metadata?.name);
  expect(patch?.spec?.template.spec?.hostUsers).toBe(false);
  expect(patch && containerOf(patch)).toMatchObject({
    name: containerOf(findDeployment()).name,
    securityContext: { procMount: "Unmasked", seccompProfile: { type: "Unconfined" } },
  });
});

function find<T>(kind: string): T {
  const found = manifests.find((manifest) => manifest.kind === kind);
  if (found === undefined) {
    throw new Error(`no ${kind}`);
  }
  return found as T;
}

function findDeployment(): IDeployment {
  return find<IDeployment>("Deployment");
}

type Pod = NonNullable<NonNullable<IDeployment["spec"]>["template"]["spec"]>;

function podOf({ spec }: IDeployment): Pod {
  const pod = spec?.template.spec;
  if (pod === undefined) {
    throw new Error("the deployment has no pod");
  }
  return pod;
}

function containerOf(deployment: IDeployment): Pod["containers"][number] {
  const [container, ...others] = podOf(deployment).containers;
  if (container === undefined || others.length > 0) {
    throw new Error("the deployment has one container");
  }
  return container;
}

/** Throws the errors of the API's schema. */
async function validate(manifest: Manifest): Promise<void> {
  const { apiVersion, kind } = manifest;
  const specifier = `kubernetes-models/${apiVersion}/${kind}`;
  const module = (await import(/* @vite-ignore */ specifier)) as Record<string, typeof Deployment>;
  const Model = module[kind];
  if (Model === undefined) {
    throw new Error(`no model of ${kind}`);
  }
  new Model(manifest as IDeployment).validate();
}

/** Adds the selector, which every deployment needs and a patch leaves to the manifest that it changes. */
function completeJailPatch(patch: Manifest): Manifest {
  const { spec, ...rest } = patch as unknown as IDeployment;
  return { ...rest, spec: { selector: {}, ...spec } } as Manifest;
}

/**
 * Returns unknown keys. The schema accepts them, as Kubernetes itself does for older clients. The types of the same package
 * reject them where a literal is checked against them.
 */
async function findTypeErrors(found: readonly Manifest[]): Promise<string[]> {
  const directory = await openFolder();
  await symlink(join(repositoryRoot, "node_modules"), join(directory, "node_modules"));
  const source = found.map((manifest, index) => {
    const { apiVersion, kind } = manifest;
    const type = `import("kubernetes-models/${apiVersion}/${kind}").I${kind}`;
    return `export const manifest${index} = ${JSON.stringify(manifest, null, 1)} satisfies ${type};`;
  });
  await writeFile(join(directory, "package.json"), '{"type":"module"}');
  await writeFile(join(directory, "manifests.ts"), source.join("\n"));
  const flags = ["--noEmit", "--strict", "--module", "nodenext", "--skipLibCheck", "--types", "", "manifests.ts"];
  const tsc = join(repositoryRoot, "node_modules", ".bin", "tsc");
  return await promisify(execFile)(tsc, flags, { cwd: directory }).then(
    () => [],
    ({ stdout }: { stdout: string }) => stdout.split("\n").filter((line) => line.includes("error TS")),
  );
}
