/** The limits of one process. docs/reference/limits.md is generated from this table. */
import { MAX_REQUEST_BYTES } from '../../api/metacontroller.ts';
import { LIST_BYTES } from '../../core/collection/memoryLimit.ts';

export const SERVER_LIMITS = {
  /** Bytes of the body of a hook or admission request. A larger one is answered with 413. */
  bodyBytes: MAX_REQUEST_BYTES,
  /**
   * Bytes of all bodies of one port whose requests are not decided yet, even if one was denied for time
   * (`answerSeconds`). The first 256 KiB of each don't count.
   */
  bodyBytesAtOnce: 32 * 1024 * 1024,
  /**
   * Estimated bytes of memory of the parsed bodies of one port whose requests are not decided yet. The first 256 KiB of
   * each don't count. A body that takes more alone is answered with 413, one that doesn't fit now with 429.
   */
  bodyMemoryAtOnce: 128 * 1024 * 1024,
  /** Concurrent hook or admission requests of one port. More are answered with 429. */
  requestsAtOnce: 256,
  /**
   * Admission requests of one namespace that are answered at once, without Metacontroller's writes of Flux objects.
   * Others of the namespace wait, as long as it has fewer requests than are free in `requestsAtOnce`, so 128 at most.
   * More are answered with 429.
   */
  answeredOfNamespace: 16,
  /**
   * Bytes of one page of an API server's list, more than the largest object has. A larger page is requested again with
   * fewer objects.
   */
  pageBytes: 2 * 1024 * 1024,
  /**
   * Estimated bytes of memory of the objects of one list, without `fieldsV1` of `managedFields`. With more, the hook or
   * request fails; a Gate's status keeps the objects that it had.
   */
  listBytes: LIST_BYTES,
  /** Seconds within which a body must be complete. Otherwise it is answered with 408, and the connection is closed. */
  bodySeconds: 3,
  /**
   * Seconds within which a review of a webhook that fails open must be decided, from its arrival before the body is
   * read. Otherwise the write is denied: after five seconds without an answer the API server would admit it.
   */
  answerSeconds: 3,
  /** Connections to the hooks' port, to the webhook's, and to that of the probes. */
  connections: 1024,
  /** Connections of one address to a port: twice `requestsAtOnce`, because an API server opens one for each request. */
  connectionsPerAddress: 512,
  /** Pending requests of one connection. With more, the connection is closed. */
  requestsOfConnection: 4,
  /** Seconds within which a TLS handshake must be complete. */
  handshakeSeconds: 5,
  /** Seconds within which the headers of a request must be complete, from its first byte. */
  headersSeconds: 5,
  /** Connections to the receiver's port, and to that of the inputs. */
  receiverConnections: 128,
  /** Seconds for which an ID token is valid: a Gate records for ten minutes which ones it has accepted. */
  idTokenSeconds: 480,
  /** Seconds by which a replica's clock may differ from the API server's. With more, the replica is not ready. */
  clockSeconds: 60,
  /** Seconds by which an issuer's clock may be off. */
  idTokenClockSeconds: 30,
  /** Bytes of an issuer's configuration, and of its key set. */
  issuerBytes: 64 * 1024,
  /** Seconds within which an issuer's configuration and keys must be read. */
  issuerSeconds: 5,
  /** Seconds for which an issuer's keys are cached: a revoked one is accepted until then. */
  issuerKeysSeconds: 600,
  /** Seconds between two reads of an issuer's keys, regardless of the tokens received. */
  issuerPauseSeconds: 30,
} as const;
