/** The OpenVEX document of an image, and the evidence for its statements. */
import { expect, it } from 'vitest';
import { imageVex } from '../../../dev/image/vex.ts';
import { SOURCES } from '../../support/sources.ts';

const HEX = '0123456789abcdef'.repeat(4);
const image = `registry.example:5000/team/rollout-hooks@sha256:${HEX}`;
const vex: any = imageVex(image, '2026-03-01T12:00:00.000Z');

it('has the fields that OpenVEX 0.2.0 requires of a document', () => {
  expect(vex).toMatchObject({
    '@context': 'https://openvex.dev/ns/v0.2.0',
    '@id': expect.stringContaining(HEX),
    author: expect.any(String),
    timestamp: '2026-03-01T12:00:00.000Z',
    version: 1,
  });
  expect(vex.statements.length).toBeGreaterThan(0);
});

it('has for each vulnerability the reason why this image, by its digest, is not affected', () => {
  const repository = encodeURIComponent('registry.example:5000/team/rollout-hooks');
  const product = `pkg:oci/rollout-hooks@sha256%3A${HEX}?repository_url=${repository}`;
  for (const { vulnerability, products, status, justification, impact_statement } of vex.statements) {
    expect(vulnerability.name).toMatch(/^CVE-\d{4}-\d{4,}$/);
    expect(products.map((each: any) => each['@id'])).toEqual([product]);
    expect(products[0].subcomponents[0]['@id']).toMatch(/^pkg:deb\/debian\/[a-z-]+$/);
    expect([status, justification]).toEqual(['not_affected', 'vulnerable_code_not_in_execute_path']);
    expect(impact_statement).toMatch(/^rollout-hooks starts no other process/);
  }
});

// test/long/image.test.ts runs the image with none of these programs in it.
it('nothing in the image starts a process', () => {
  const inImage = SOURCES.filter(({ path }) =>
    /^(main\.ts$|(api|core|client|hooks|webhooks|receiver|copy|server|page|connection)\/)/.test(path),
  );
  expect(inImage.length).toBeGreaterThan(100);
  expect(inImage.filter(({ packages }) => packages.some((name) => /child_process|cluster$/.test(name)))).toEqual([]);
});

it('is about one image only', () => {
  expect(() => imageVex('rollout-hooks:1.2.0', '2026-03-01T12:00:00.000Z')).toThrow('is not IMAGE@sha256:DIGEST');
});
