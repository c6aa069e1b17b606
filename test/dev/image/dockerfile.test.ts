import { expect, it } from 'vitest';
import { parseDockerfile } from '../../../dev/image/dockerfile.ts';

it('has stages, each with what it does, in order', () => {
  const text = `# a comment
FROM --platform=$BUILDPLATFORM node:24 AS first
RUN one \\
  && two
# another
FROM debian
COPY --from=first /a /b/
COPY c d ./
ENV NAME=value
WORKDIR /app
USER 1:2
EXPOSE 1 2
ENTRYPOINT ["node", "main.ts"]
`;
  expect(parseDockerfile(text)).toEqual([
    { base: 'node:24', name: 'first', steps: [{ does: 'run', script: 'one   && two' }] },
    {
      base: 'debian',
      name: '',
      steps: [
        { does: 'copy', from: 'first', sources: ['/a'], to: '/b/' },
        { does: 'copy', sources: ['c', 'd'], to: './' },
        { does: 'env', name: 'NAME', value: 'value' },
        { does: 'workdir', dir: '/app' },
        { does: 'user', user: '1:2' },
        { does: 'expose', ports: [1, 2] },
        { does: 'entrypoint', command: ['node', 'main.ts'] },
      ],
    },
  ]);
});

it.each([
  'RUN before any FROM',
  'FROM a\nADD b c',
  'FROM a\nCOPY --chown=1 b c',
  'FROM a\nCOPY alone',
  'FROM a\nENV NAME value',
  'FROM a AS b c',
])('what it does not understand is refused, and not left out: %j', (text) => {
  expect(() => parseDockerfile(text)).toThrow(/is not understood/);
});
