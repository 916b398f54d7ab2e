# The image of the service: Node, the program as `npm run build` makes it, and bubblewrap for the commands of agents.
#
#   docker build --build-arg COMMIT=$(git rev-parse HEAD) -t runnel .
#
# It runs with a read-only root: only /tmp and /var/lib/runnel are written to. docs/deployment.md says how to run it.

# By version, so that a build tomorrow has the same Node. To fix the version of Debian too, add the image's @sha256 digest.
FROM node:24.21.0-bookworm-slim AS node

FROM node AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# The lock file names this folder as a package of the tests.
COPY test/chain/anvil ./test/chain/anvil
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY buf.yaml ./
# The console checks receipts with the library for TypeScript.
COPY clients/typescript/src ./clients/typescript/src
COPY console ./console
COPY gen ./gen
COPY proto ./proto
COPY scripts ./scripts
COPY src ./src
COPY third_party ./third_party
COPY tsconfig.json ./
RUN node scripts/build.ts

FROM node AS app
WORKDIR /opt/runnel
# The program contains its packages, except the embedded Postgres: the database of a container is another container.
COPY --from=build /build/dist ./dist
COPY package.json LICENSE ./
COPY migrations ./migrations
COPY --from=build /build/console/dist ./console/dist
# Metrics and traces show it. Last, because it changes with every build.
ARG COMMIT=unknown
RUN printf '%s\n' "$COMMIT" > COMMIT

FROM node
RUN apt-get update \
  && apt-get install --yes --no-install-recommends bash bubblewrap tini \
  && rm -rf /var/lib/apt/lists/*
LABEL org.opencontainers.image.title="Runnel" \
  org.opencontainers.image.description="Runs agents for other programs: one gRPC and REST contract, a durable result log, resumable streams." \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.vendor="The Runnel Authors"
# By number, so that Kubernetes can see that it is not root. Its home is where work directories and a config.yaml may lie.
RUN groupadd --gid 65532 runnel \
  && useradd --uid 65532 --gid 65532 --home-dir /var/lib/runnel --shell /usr/sbin/nologin runnel \
  && install --directory --owner=runnel --group=runnel --mode=0700 /var/lib/runnel
COPY --from=app /opt/runnel /opt/runnel
ENV NODE_ENV=production \
  RUNNEL_SESSIONS_WORK_DIRS=/var/lib/runnel/projects/{client} \
  RUNNEL_SESSIONS_WORK_ROOT=/var/lib/runnel/work
WORKDIR /var/lib/runnel
VOLUME /var/lib/runnel
USER 65532:65532
EXPOSE 8090
STOPSIGNAL SIGTERM
# Whether the process answers, and not whether it is ready: a replica whose database is away is not helped by a restart.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.RUNNEL_SERVER_PORT || 8090}/livez`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Process 1 hands signals on and buries what commands leave behind; the service does not have to.
ENTRYPOINT ["tini", "--", "node", "/opt/runnel/dist/main.js"]
CMD ["serve"]
