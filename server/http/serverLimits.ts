/** The limits of one process. docs/reference/limits.md is generated from this table. */
import { MAX_REQUEST_BYTES } from '../../api/metacontroller.ts';
import { LIST_BYTES } from '../../core/kube/memoryLimit.ts';

export const SERVER_LIMITS = {
  /** Bytes of a hook's or an admission request's body. More is answered with 413. */
  bodyBytes: MAX_REQUEST_BYTES,
  /**
   * Bytes of all bodies of one port until their requests are decided, even if one was denied before (`answerSeconds`),
   * without the first 256 KiB of each.
   */
  bodyBytesAtOnce: 32 * 1024 * 1024,
  /**
   * Estimated bytes of memory of the parsed bodies of one port until their requests are decided, without the first
   * 256 KiB of each. A body of more is answered with 413, one that doesn't fit now with 429.
   */
  bodyMemoryAtOnce: 128 * 1024 * 1024,
  /** Hook or admission requests at once, by port. More are answered with 429. */
  requestsAtOnce: 256,
  /**
   * Bytes of one page of a list of the API server, above those of the largest object. A larger page is requested again
   * with fewer objects.
   */
  pageBytes: 2 * 1024 * 1024,
  /**
   * Estimated bytes of memory of the objects of one list, without the fields that managers own. With more, the hook or
   * request fails; a Gate's status keeps the objects that it had.
   */
  listBytes: LIST_BYTES,
  /** Seconds until a body is complete; then 408, and the connection is closed. */
  bodySeconds: 3,
  /**
   * Seconds from the arrival of a review of a webhook that fails open, before its body is read, until it is decided;
   * then the write is denied. After five seconds without an answer the API server admits the write.
   */
  answerSeconds: 3,
  /** Connections to the hooks' port, to the webhook's, and to that of the probes. */
  connections: 1024,
  /** Connections of one address to a port: twice `requestsAtOnce`, as an API server opens one for each request. */
  connectionsPerAddress: 512,
  /** Requests of one connection that wait for their answers. With more, the connection is closed. */
  requestsOfConnection: 4,
  /** Seconds until a TLS handshake is complete. */
  handshakeSeconds: 5,
  /** Seconds from the handshake, or from the first byte of a later request, until the headers are complete. */
  headersSeconds: 5,
  /** Connections to the receiver's port, and to that of the inputs. */
  receiverConnections: 128,
  /** Seconds for which an ID token counts: a Gate records for ten minutes which ones it has accepted. */
  idTokenSeconds: 480,
  /** Seconds by which an issuer's clock may be off. */
  idTokenClockSeconds: 30,
  /** Bytes of an issuer's configuration, and of its keys. */
  issuerBytes: 64 * 1024,
  /** Seconds until an issuer's configuration and keys are read. */
  issuerSeconds: 5,
  /** Seconds for which an issuer's keys are kept: a revoked one counts until then. */
  issuerKeysSeconds: 600,
  /** Seconds between two reads of an issuer's keys, regardless of the tokens received. */
  issuerPauseSeconds: 30,
} as const;
