/** What one process takes at once. docs/security.md lists them under "Limits"; a test holds that list to this table. */
import { MAX_REQUEST_BYTES } from '../../api/metacontroller.ts';

export const SERVER_LIMITS = {
  /** More is answered with 413. */
  bodyBytes: MAX_REQUEST_BYTES,
  /** Of all bodies of one port that are not answered yet: parsed, they take ten times as much memory. */
  bodyBytesAtOnce: 32 * 1024 * 1024,
  /** More are answered with 429, which Metacontroller takes as backpressure. */
  requestsAtOnce: 256,
  /** Until a body is complete; a slower one is answered with 408. */
  bodySeconds: 3,
  /** Of the hooks' port, of the webhook's, and of that of the probes. Beyond, the oldest without a complete request goes, of the address that has most. */
  connections: 1024,
  /**
   * Of one remote address. Not less than all requests of a port that may be under way, in both of its lanes: an API server has a connection for
   * each, and where one is closed, a webhook that fails open lets the write through.
   */
  connectionsPerAddress: 512,
  /** Until the TLS handshake is complete; from then, or from the first byte of a later request, until its headers are. */
  handshakeSeconds: 5,
  headersSeconds: 5,
  receiverConnections: 128,
  /** From its `iat`. With the clock's tolerance on both sides less than the ten minutes for which a Gate remembers a call. */
  idTokenSeconds: 480,
  /** How far the clock of an issuer may be off. */
  idTokenClockSeconds: 30,
  /** Of each of the two answers of an issuer that lead to its keys. */
  issuerBytes: 64 * 1024,
  /** Until both are complete. */
  issuerSeconds: 5,
  /** How long keys count before they are read again. */
  issuerKeysSeconds: 600,
  /** Between two reads, whether the first failed or a token's key is not among them. */
  issuerPauseSeconds: 30,
} as const;
