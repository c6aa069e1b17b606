/** What one process takes at once. docs/security.md lists them under "Limits"; a test holds that list to this table. */
export const SERVER_LIMITS = {
  /** Two objects of 3 MB each, with some margin; more is answered with 413. */
  bodyBytes: 7 * 1024 * 1024,
  /** Of all bodies of one port that are not answered yet: parsed, they take ten times as much memory. */
  bodyBytesAtOnce: 32 * 1024 * 1024,
  /** More are answered with 429, which Metacontroller takes as backpressure. */
  requestsAtOnce: 256,
  /** Of the hooks' port, and of the webhook's. */
  connections: 1024,
  receiverConnections: 128,
} as const;
