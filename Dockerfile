# No build step: Node runs the TypeScript itself. Only what main.ts and copy/main.ts need is copied.
# On the builder's own platform: none of the packages has anything native.
FROM --platform=$BUILDPLATFORM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# Not `npm ci`: dev/scripts/bootstrap.mjs says why.
RUN npm install --omit=dev --no-save --ignore-scripts --no-audit --no-fund

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json main.ts ./
COPY api ./api
COPY core ./core
COPY hooks ./hooks
COPY webhooks ./webhooks
COPY receiver ./receiver
COPY copy ./copy
COPY server ./server
# The files stay root's: the process cannot change its own code.
USER 65532:65532
EXPOSE 8080 8443 9292
ENTRYPOINT ["node", "main.ts"]
