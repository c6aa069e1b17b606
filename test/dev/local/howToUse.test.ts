import { expect, it } from 'vitest';
import { howToUse } from '../../../dev/local/up.ts';

it.each([
  [undefined, ''],
  ['/cache/kubectl', '\n  alias kubectl=/cache/kubectl'],
])('npm run up prints the commands for another terminal; kubectl outside of the PATH: %s', (kubectl, alias) => {
  expect(howToUse('/x/my kubeconfig', kubectl)).toBe(
    `In another terminal:\n  export KUBECONFIG='/x/my kubeconfig'${alias}`,
  );
});
