/**
 * Copies a blob from the source to the target, if the target lacks it: mounted, or streamed with its digest checked.
 */
import { createHash } from 'node:crypto';
import type { Dispatcher } from 'undici';
import type { BlobOutcome, Descriptor } from '../../api/registry.ts';
import { RegistryError, type RegistryFailure } from '../registry/error.ts';
import { errorCodeOf, isRedirect, MAX_REDIRECTS } from '../registry/http.ts';
import { atKnownAddress, type Session } from './registrySession.ts';

/** @param mount whether both are repositories of one registry */
export function createBlobCopier(source: Session, target: Session, mount: boolean) {
  async function copyOnce(blob: Descriptor): Promise<BlobOutcome> {
    if (await hasBlob(target, blob)) return 'existed';
    const mounted = mount ? await startUpload(target, blob, source.image.repository) : undefined;
    if (mounted === 'mounted') return confirmed('mounted', blob);
    const upload = mounted ?? (await startUpload(target, blob));
    const content = await openBlob(source, blob);
    if (!content) return 'absent';
    // Without a listener, the error of a stream that is dropped unread would end the process.
    content.body.on('error', () => {});
    try {
      await send(target, upload as URL, blob, verified(content.body, blob, source));
    } finally {
      content.body.destroy();
    }
    return confirmed('uploaded', blob);
  }

  /** The outcome, after a check that the target has the blob. */
  async function confirmed(outcome: BlobOutcome, blob: Descriptor): Promise<BlobOutcome> {
    if (await hasBlob(target, blob)) return outcome;
    throw new RegistryError(`the target ${target.name} accepted ${blob.digest}, but does not have it`);
  }

  return (blob: Descriptor) => target.retry(() => copyOnce(blob));
}

async function hasBlob(target: Session, { digest, size }: Descriptor): Promise<boolean> {
  const response = await target.exchange(`blobs/${digest}`, { method: 'HEAD' });
  await response.body.dump();
  const { statusCode, headers } = response;
  // A redirect to the registry's storage: the blob exists.
  if (isRedirect(statusCode)) return true;
  if (statusCode === 404) return false;
  if (statusCode !== 200) throw target.refusal(statusCode, `to show ${digest}`, { retryAfter: headers['retry-after'] });
  const length = headers['content-length'];
  if (length !== undefined && Number(length) !== size) {
    throw new RegistryError(
      `the target ${target.name} has ${digest} with ${length} bytes instead of ${size}: delete it there`,
    );
  }
  return true;
}

/** The address to send the blob to, or whether it was mounted; undefined if the registry refuses to mount it. */
async function startUpload(
  target: Session,
  { digest }: Descriptor,
  from?: string,
): Promise<URL | 'mounted' | undefined> {
  const query = from === undefined ? '' : `?${new URLSearchParams({ mount: digest, from })}`;
  const start = target.url(`blobs/uploads/${query}`);
  const response = await target.exchange(start, { method: 'POST', headers: { 'content-length': '0' } });
  const code = await errorCodeOf(response.body);
  if (from !== undefined && response.statusCode === 201) return 'mounted';
  if (response.statusCode !== 202) {
    if (from !== undefined) return undefined;
    throw target.refusal(response.statusCode, `the blob ${digest}`, {
      code,
      retryAfter: response.headers['retry-after'],
    });
  }
  const location = URL.parse(String(response.headers.location ?? ''), start.href);
  if (location?.hostname !== start.hostname) {
    throw new RegistryError(`the target ${target.name} wants its blobs sent to another host, which is not supported`);
  }
  const upload = atKnownAddress(location, start);
  upload.searchParams.set('digest', digest);
  return upload;
}

async function send(target: Session, upload: URL, blob: Descriptor, content: AsyncIterable<Uint8Array>): Promise<void> {
  const headers = { 'content-type': 'application/octet-stream', 'content-length': String(blob.size) };
  const body = content as unknown as Dispatcher.DispatchOptions['body'] & Uint8Array;
  const response = await target.exchange(upload, { method: 'PUT', headers, body });
  const code = await errorCodeOf(response.body);
  if (response.statusCode >= 200 && response.statusCode <= 299) return;
  if (code === 'DIGEST_INVALID') {
    const text = `the target ${target.name} received other bytes for ${blob.digest} than were sent`;
    throw new RegistryError(text, 'Invalid', { transient: true });
  }
  throw target.refusal(response.statusCode, `the blob ${blob.digest}`, {
    code,
    retryAfter: response.headers['retry-after'],
  });
}

/**
 * The source's blob; undefined if it does not have it. It is often on another host, to which the registry's credentials
 * aren't sent.
 */
async function openBlob(source: Session, { digest }: Descriptor): Promise<Dispatcher.ResponseData | undefined> {
  let at = source.url(`blobs/${digest}`);
  let response = await source.exchange(at, { method: 'GET' });
  for (let redirects = 1; isRedirect(response.statusCode); redirects++) {
    await response.body.dump();
    at = redirected(at, String(response.headers.location ?? ''), source);
    if (redirects > MAX_REDIRECTS)
      throw new RegistryError(`the source ${source.name} redirects more than ${MAX_REDIRECTS} times`);
    response = await source.getElsewhere(at);
  }
  const { statusCode } = response;
  if (statusCode === 200) return response;
  const code = await errorCodeOf(response.body);
  if (at.host !== source.image.host) {
    throw new RegistryError(`the source's storage ${at.host} answers ${statusCode} for ${digest}`, 'Unavailable');
  }
  if (statusCode === 404) return undefined;
  throw source.refusal(statusCode, `to show ${digest}`, { code, retryAfter: response.headers['retry-after'] });
}

function redirected(from: URL, location: string, source: Session): URL {
  const to = URL.parse(location, from.href);
  const safe = to?.protocol === 'https:' || (to?.protocol === 'http:' && from.protocol === 'http:');
  if (to && safe && to.username === '' && to.password === '') return to;
  throw new RegistryError(
    `the source ${source.name} redirects to an address that blobs may not come from: it must be https, without a login`,
  );
}

/**
 * The bytes of a blob. The last ones are withheld until the digest is verified, so that a wrong blob is never complete.
 */
async function* verified(content: AsyncIterable<Uint8Array>, { digest, size }: Descriptor, source: Session) {
  const wrong = (text: string, failure: RegistryFailure) =>
    new RegistryError(`the source ${source.name} ${text}`, failure, { transient: true });
  const algorithm = digest.slice(0, digest.indexOf(':'));
  const hash = createHash(algorithm);
  let length = 0;
  let held: Uint8Array | undefined;
  try {
    for await (const chunk of content) {
      length += chunk.byteLength;
      if (length > size) break;
      hash.update(chunk);
      if (held) yield held;
      held = chunk;
    }
  } catch (error) {
    throw error instanceof RegistryError
      ? error
      : wrong(`broke off ${digest} after ${length} of ${size} bytes`, 'Unavailable');
  }
  if (length !== size) {
    throw wrong(`sent ${length > size ? 'more than' : `${length} of`} ${size} bytes for ${digest}`, 'Invalid');
  }
  const found = `${algorithm}:${hash.digest('hex')}`;
  if (found !== digest) throw wrong(`sent ${found} for ${digest}`, 'Invalid');
  if (held) yield held;
}
