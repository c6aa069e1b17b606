/**
 * The port `Measurements`. Queries run in the background, with one limit for all and a lower one for each namespace.
 * The newest answer for a check is kept until a sync takes it: the sync that started the query, if the provider answers
 * at once.
 */

import { setTimeout as wait } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { METRIC_PROVIDERS, NAMESPACES } from '../../api/kinds.ts';
import type { EpochMs, Secret } from '../../api/kubernetes.ts';
import type { ClusterReader, Measurement, MeasurementQuery, Measurements, Reading } from '../../api/ports.ts';
import type { MetricProvider } from '../../api/types.ts';
import { matchesSelector } from '../../core/kube/selector.ts';
import { shortErrorText } from '../../core/text/errorText.ts';
import { Lru } from '../lru.ts';
import { createQueue } from '../queue.ts';
import { type Trust, trustOf } from '../registry/trust.ts';

const MAX_CHECKS = 5000;
const MAX_WAITING = 500;
const AT_ONCE = 8;
const AT_ONCE_OF_NAMESPACE = 2;
/** The shortest time between two queries of one check, even if its status or query changes. */
const QUERY_INTERVAL_MS = 9000;
const TIMEOUT_MS = 5000;
const WAIT_MS = 500;

interface MeasurementOptions {
  cluster: ClusterReader;
  now(): EpochMs;
  /** Reduces the JSON of an answer to a reading. */
  readingOf(body: unknown): Reading;
  /** Series that a query requests. */
  limit: number;
  /** The longest time of a query. */
  timeoutMs?: number;
  /** The longest time that a sync waits for a query: other syncs of its controller wait too. */
  waitMs?: number;
}

interface Entry {
  /** The query that `measured` is the result of. */
  answered?: MeasurementQuery;
  measured?: Measurement;
  /** When the last query was sent. */
  requestedAt: EpochMs;
  isQueued: boolean;
  /** Resolves when the query in progress has its answer. */
  underWay?: Promise<void>;
}

interface IdleMeasurements extends Measurements {
  /** Resolves when no query is running. */
  idle(): Promise<void>;
}

export function createMeasurements(options: MeasurementOptions): IdleMeasurements {
  const { cluster, now, readingOf, limit, timeoutMs = TIMEOUT_MS, waitMs = WAIT_MS } = options;
  const entries = new Lru<Entry>(MAX_CHECKS);

  const queue = createQueue<{ wanted: MeasurementQuery; entry: Entry }>({
    limit: MAX_WAITING,
    atOnce: AT_ONCE,
    lanes: {
      of: ({ wanted }) => wanted.check.namespace,
      atOnce: AT_ONCE_OF_NAMESPACE,
      evicted({ entry }) {
        entry.isQueued = false;
      },
    },
    async work({ wanted, entry }) {
      const at = now();
      const requested = read(wanted).then((reading) => {
        Object.assign(entry, { answered: wanted, measured: { at, reading }, isQueued: false });
        delete entry.underWay;
      });
      Object.assign(entry, { requestedAt: at, underWay: requested });
      await requested;
    },
    failed() {
      // `read` never rejects.
    },
  });

  async function read({ check, provider, query: text }: MeasurementQuery): Promise<Reading> {
    try {
      const endpoint = await endpointOf(cluster, provider, check.namespace);
      return readingOf(await query(endpoint, text, { limit, timeoutMs }));
    } catch (error) {
      const reason = error instanceof ProviderError ? error.message : `could not be read: ${shortErrorText(error)}`;
      return { problem: `MetricProvider '${provider}' ${reason}` };
    }
  }

  function answerTo(
    { provider, query: text, since, cutoff }: MeasurementQuery,
    { answered, measured }: Entry,
  ): Measurement | undefined {
    const isSame = answered?.provider === provider && answered.query === text && answered.cutoff === cutoff;
    // A measurement in the future was made before the clock was set back. It would count again and again until then.
    return isSame && measured && measured.at >= since && measured.at <= now() ? measured : undefined;
  }

  return {
    async measure(wanted) {
      const { namespace, name, uid } = wanted.check;
      // A forged request with another check's uid must neither delay nor answer that check's queries.
      const key = JSON.stringify([namespace, name, uid]);
      const entry = entries.get(key) ?? { requestedAt: Number.NEGATIVE_INFINITY, isQueued: false };
      entries.set(key, entry);
      const known = answerTo(wanted, entry);
      const sinceLast = now() - entry.requestedAt;
      const isTooSoon = sinceLast >= 0 && sinceLast < QUERY_INTERVAL_MS;
      if (known || entry.isQueued || isTooSoon) return known;
      entry.isQueued = true;
      entry.isQueued = queue.push({ wanted, entry });
      if (entry.underWay) await Promise.race([entry.underWay, wait(waitMs, undefined, { ref: false })]);
      return answerTo(wanted, entry);
    },
    idle: () => queue.idle(),
  };
}

// A MetricProvider, read live: whether a namespace may use it, and its credentials.

/** The namespace of a provider's Secrets: the platform team owns this namespace, as it owns the providers. */
const SECRETS_NAMESPACE = 'rollout-hooks';

type Data = Record<string, string>;

/**
 * The endpoint of a MetricProvider.
 * @throws ProviderError if the namespace isn't allowed to use it, or an object that it references is missing; otherwise
 * the API server's failure
 */
async function endpointOf(cluster: ClusterReader, name: string, namespace: string): Promise<Endpoint> {
  const provider = await cluster.get<MetricProvider>({ ...METRIC_PROVIDERS, name });
  if (!provider || !(await mayUse(cluster, provider, namespace))) {
    // One text for both causes, so that it doesn't reveal a provider that only other namespaces may use.
    const which = `its spec.namespaceSelector does not select namespace '${namespace}'`;
    throw new ProviderError(`does not exist, or ${which}: ask the platform team`);
  }
  const { address, secretRef, certSecretRef } = provider.spec;
  const [login, certificates] = await Promise.all([readSecret(cluster, secretRef), readSecret(cluster, certSecretRef)]);
  const trust = certificates && trustOf(certificates);
  if (trust && 'problem' in trust) throw new ProviderError(`has an unusable spec.certSecretRef: ${trust.problem}`);
  const authorization = login && authorizationOf(login);
  return { address, ...(authorization && { authorization }), ...(trust && { trust }) };
}

async function mayUse(cluster: ClusterReader, { spec }: MetricProvider, namespace: string): Promise<boolean> {
  const found = await cluster.get({ ...NAMESPACES, name: namespace });
  try {
    // An absent selector selects no namespace, an empty one all.
    return (
      found !== undefined && spec.namespaceSelector && matchesSelector(spec.namespaceSelector, found.metadata.labels)
    );
  } catch {
    return false;
  }
}

async function readSecret(cluster: ClusterReader, ref: { name: string } | undefined): Promise<Data | undefined> {
  if (!ref) return undefined;
  const where = { apiVersion: 'v1', resource: 'secrets', namespace: SECRETS_NAMESPACE, name: ref.name };
  const secret = await cluster.get<Secret>(where);
  if (!secret) throw new ProviderError(`names Secret ${SECRETS_NAMESPACE}/${ref.name}, which does not exist`);
  return secret.data ?? {};
}

function authorizationOf(data: Data): string {
  const text = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
  const [token, username, password] = [text('token').trim(), text('username'), text('password')];
  // A line break would start another header.
  if (/^[\x21-\x7e]+$/.test(token)) return `Bearer ${token}`;
  if (username && password) return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  throw new ProviderError('has an unusable spec.secretRef: it needs token, or username and password');
}

// One instant query to a Prometheus. No redirect is followed; time and size are limited.

/** The largest answer: the query selects few series. */
const MAX_BYTES = 1024 * 1024;

interface Endpoint {
  /** Without `/api/v1`. */
  address: string;
  /** The header Authorization. */
  authorization?: string;
  trust?: Trust;
}

interface QueryOptions {
  /** Series. */
  limit: number;
  timeoutMs: number;
}

/**
 * Why there is no answer, as the part of a sentence after the provider's name. It contains no header, body or address.
 */
class ProviderError extends Error {}

/**
 * The JSON of the answer.
 * @throws ProviderError
 */
async function query(endpoint: Endpoint, text: string, options: QueryOptions): Promise<unknown> {
  const { limit, timeoutMs } = options;
  const url = new URL(`${endpoint.address.replace(/\/$/, '')}/api/v1/query`);
  url.search = new URLSearchParams({ query: text, timeout: `${timeoutMs}ms`, limit: String(limit) }).toString();
  const dispatcher = new Agent({ maxResponseSize: MAX_BYTES, connect: { ...endpoint.trust } });
  try {
    const { statusCode, body } = await request(url, {
      dispatcher,
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        accept: 'application/json',
        'user-agent': 'rollout-hooks',
        ...(endpoint.authorization && { authorization: endpoint.authorization }),
      },
    });
    if (statusCode !== 200) throw new ProviderError(refusal(statusCode));
    return parsed(await body.text());
  } catch (error) {
    throw error instanceof ProviderError ? error : new ProviderError(failure(error));
  } finally {
    await dispatcher.destroy();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProviderError('answers with something other than JSON: see its spec.address');
  }
}

const REFUSALS: Record<number, string> = {
  400: 'cannot parse the query: try it in Prometheus',
  401: 'refuses the credentials of its spec.secretRef',
  403: 'refuses the credentials of its spec.secretRef',
  404: 'has no Prometheus API at its spec.address',
  422: 'cannot execute the query: try it in Prometheus',
  503: 'is not available, or the query takes too long',
};

function refusal(status: number): string {
  if (status >= 300 && status < 400) return `answers ${status}, and redirects are not followed: see its spec.address`;
  return `${REFUSALS[status] ?? 'does not answer the query'} (status ${status})`;
}

function failure(error: unknown): string {
  const { name, code, cause } = error as { name?: string; code?: string; cause?: { code?: string } };
  if (name === 'TimeoutError' || name === 'ConnectTimeoutError') return 'did not answer in time';
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return `answers with more than ${MAX_BYTES} bytes: aggregate in the query`;
  const why = code ?? cause?.code;
  return `cannot be reached${why ? ` (${why})` : ''}`;
}
