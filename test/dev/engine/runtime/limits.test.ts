import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LIMITS } from '../../../../dev/engine/runtime/limits.ts';
import { REPOSITORY } from '../../../../dev/repository.ts';

it.each(['values.yaml', 'patch.yaml', 'bundled/deployment.yaml'])('measurements run with the limits of %s', (file) => {
  const text = readFileSync(join(REPOSITORY, 'manifests/metacontroller', file), 'utf8');
  expect(text).toContain(`--client-go-qps=${LIMITS.qps}\n`);
  expect(text).toContain(`--client-go-burst=${LIMITS.burst}\n`);
  expect(text).toContain(`--workers=${LIMITS.workers}\n`);
});
