# syntax=docker/dockerfile:1

# The application, compiled with all development tools.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY nest-cli.json tsconfig.json tsconfig.build.json ./
COPY bin ./bin
COPY src ./src
RUN node node_modules/@nestjs/cli/bin/nest.js build

# What the application needs at run time, and nothing else.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund && npm cache clean --force

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATA_DIR=/data
WORKDIR /app
# `node` (uid 1000) is the image's own unprivileged user. The code stays root's: the process cannot change it.
RUN install --directory --owner=node --group=node --mode=0700 /data
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json openapi.json ./
USER node
VOLUME /data
EXPOSE 3000
# Requests in flight get ten seconds, and the embedded database, where there is one, is closed after that.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/apis/v1/health/live`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# The flags of bin/lib/node-flags.mjs, which says why.
CMD ["node", "--max-semi-space-size=8", "--max-old-space-size=1024", "--expose-gc", "dist/main.js"]
