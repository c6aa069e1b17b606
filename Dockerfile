# No build step but for the page's files: Node runs the TypeScript itself. Only what main.ts, copy/main.ts, audit/main.ts and
# page/inCluster/main.ts need is copied.
# On the builder's own platform: none of the packages has anything native.
FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# Not `npm ci`: dev/scripts/bootstrap.mjs says why. Half of the packages is for compilers and debuggers alone.
RUN npm install --omit=dev --no-save --ignore-scripts --no-audit --no-fund \
  && find node_modules -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' \) -delete

# What browsers get of the page in the cluster: one script and one style sheet from ui/.
FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS page
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm install --no-save --ignore-scripts --no-audit --no-fund
COPY api ./api
COPY core ./core
COPY client ./client
COPY page ./page
COPY ui ./ui
COPY dev/repository.ts ./dev/
COPY dev/page/buildPage.ts ./dev/page/
COPY dev/scripts/build-page.ts dev/scripts/notices.ts ./dev/scripts/
RUN node dev/scripts/build-page.ts files

# Of Node's image the program alone: npm and yarn are never run here, and what a scanner finds in them is not in ours.
FROM node:24-bookworm-slim AS node
FROM debian:bookworm-slim
COPY --from=node /usr/local/LICENSE /usr/local/share/doc/node/
COPY --from=node /usr/local/bin/node /usr/local/bin/
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json main.ts ./
COPY api ./api
COPY core ./core
COPY hooks ./hooks
COPY webhooks ./webhooks
COPY live ./live
COPY receiver ./receiver
COPY copy ./copy
COPY audit ./audit
COPY server ./server
COPY client ./client
COPY connection ./connection
COPY page ./page
COPY --from=page /app/files ./page/files
# The files stay root's: the process cannot change its own code.
USER 65532:65532
EXPOSE 8080 8443 9292 9443 8081
ENTRYPOINT ["node", "main.ts"]
