/** A renewal of the webhook's certificate doesn't change the authority that the API server trusts. */
import { expect, it } from 'vitest';
import { objectIn, objectsIn } from './files.ts';

const objects = objectsIn('components/cert-manager/certificate.yaml');
const named = (kind: string, name: string) => objects.find((o) => o.kind === kind && o.metadata.name === name)!;

it('the authority is none of the certificates that it signs, keeps its key and outlives them', () => {
  const serving = objects.find(({ kind, spec }) => kind === 'Certificate' && spec.secretName === 'rollout-hooks-tls')!;
  const issuer = named('Issuer', serving.spec.issuerRef.name);
  expect(issuer.spec).not.toHaveProperty('selfSigned');
  const root = objects.find(
    ({ kind, spec }) => kind === 'Certificate' && spec.secretName === issuer.spec.ca.secretName,
  )!;
  expect(root.spec).toMatchObject({ isCA: true, duration: '87600h', privateKey: { rotationPolicy: 'Never' } });
  // The default of cert-manager is 90 days.
  expect(serving.spec).not.toHaveProperty('duration');
  const { patches } = objectIn('components/cert-manager/kustomization.yaml');
  expect(patches[0].patch).toContain(`cert-manager.io/inject-ca-from: rollout-hooks/${root.metadata.name} }`);
});
