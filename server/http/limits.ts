/** What one process takes at once. docs/security.md lists them under "Limits"; a test holds that list to this table. */
import { MAX_REQUEST_BYTES } from '../../api/metacontroller.ts';

export const SERVER_LIMITS = {
  /** More is answered with 413. */
  bodyBytes: MAX_REQUEST_BYTES,
  /** Of all bodies of one port that are not answered yet: parsed, they take ten times as much memory. */
  bodyBytesAtOnce: 32 * 1024 * 1024,
  /** More are answered with 429, which Metacontroller takes as backpressure. */
  requestsAtOnce: 256,
  /** Of the hooks' port, and of the webhook's. */
  connections: 1024,
  receiverConnections: 128,
} as const;
