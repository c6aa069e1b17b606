/** Registries with a certificate authority of their own, one of which requires a client certificate. */
import type { TLSSocket } from 'node:tls';
import { beforeEach, expect, it } from 'vitest';
import { type CertificateAuthority, createAuthority } from '../../dev/local/controlPlane/certificates.ts';
import { copyHere, mountedSecret } from './command.ts';
import { type FakeRegistry, image, startFakeRegistry } from './fakeRegistry.ts';

interface Place {
  authority: CertificateAuthority;
  registry: FakeRegistry;
}

async function place(): Promise<Place> {
  const authority = await createAuthority(Date.now());
  const { certificate: cert, key } = await authority.issue('registry');
  const asks = { requestCert: true, rejectUnauthorized: false, ca: authority.certificate };
  return { authority, registry: await startFakeRegistry({ cert, key, ...asks }) };
}

const [source, target] = await Promise.all([place(), place()]);
const client = await target.authority.issue('writer');
beforeEach(() => {
  image(source.registry, 'dev', ['one'], '1.0.0');
  target.registry.manifests.clear();
  target.registry.meddle = () => false;
});

const ca = ({ authority }: Place) => ({ 'ca.crt': authority.certificate });
const copy = (certificates: { target?: Record<string, string> } = {}) =>
  copyHere({
    source: `${source.registry.host}/dev`,
    target: `${target.registry.host}/prod`,
    tag: '1.0.0',
    secure: true,
    more: [
      ...['--attempts', '1', '--source-certificates', mountedSecret(ca(source))],
      ...(certificates.target ? ['--target-certificates', mountedSecret(certificates.target)] : []),
    ],
  });

it('each side is trusted by its own Secret', async () => {
  expect((await copy({ target: ca(target) })).result).toMatchObject({ outcome: 'Copied' });
});

it('a target with an untrusted certificate gets nothing', async () => {
  const { result } = await copy();
  expect(result).toMatchObject({
    outcome: 'Unavailable',
    message: expect.stringMatching(/^the target: .* cannot be reached \(\w*(CERT|SIGNATURE)\w*\)/),
  });
  expect((await copy({ target: ca(source) })).result.outcome).toBe('Unavailable');
  expect(target.registry.manifests.size).toBe(0);
});

it('a client certificate is sent to a registry that requests it', async () => {
  target.registry.meddle = (request, response) => {
    if ((request.socket as TLSSocket).getPeerCertificate().subject?.CN === 'writer') return false;
    response.writeHead(403).end();
    return true;
  };
  expect((await copy({ target: ca(target) })).result).toMatchObject({ outcome: 'Denied' });
  const shown = { ...ca(target), 'tls.crt': client.certificate, 'tls.key': client.key };
  expect((await copy({ target: shown })).result).toMatchObject({ outcome: 'Copied' });
});
