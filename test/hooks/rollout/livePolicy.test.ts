/** The ImagePolicy may have changed since Metacontroller's cache got it: a release that it excludes isn't deployed. */
import { expect, it } from 'vitest';
import { imagePolicy, rollout } from './call.ts';
import { deployed, sync } from './sync.ts';

const found = imagePolicy('1.1.0');
const narrowed = { ...found, spec: { ...found.spec, policy: { semver: { range: '<1.1.0' } } } };

it.each([
  ['selects it', found, ['1.1.0', '1.0.0']],
  ['can no longer select it', narrowed, ['1.0.0']],
  ['is gone', undefined, ['1.0.0']],
])('a release is deployed only if the stored ImagePolicy %s', async (_, stored, expected) => {
  const { tags } = await sync(rollout({}, deployed), [found], { stored: stored ? [stored] : [] });
  expect(tags).toEqual(expected);
});
