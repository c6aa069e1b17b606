/** Errors in a command line are reported before any request to a cluster. */
import { expect, it } from 'vitest';
import { call } from '../support/command.ts';
import { kubeconfigOf } from './apiServer.ts';

it.each([
  ['freeze x --for soon', /^--for: 'soon' is not a time such as 30m/],
  ['freeze x --until yesterday', /^--until: 'yesterday' is not a time such as 'Mon 08:00', .*, '24 Dec', /],
  ['freeze x --until 2025-01-01', /^--until: '2025-01-01' is in the past\.\n$/],
  ['open x --at 2025-01-01T00:00:00Z', /^--at: '2025-01-01T00:00:00Z' is in the past\.\n$/],
  ['freeze x --for 1h --until 18:00', /give one of them/],
  [
    'freeze x --kinds Deployment',
    /^--kinds: 'Deployment' does not parse; expected one or more of Kustomization,.*,Bucket,Rollout\.\n$/,
  ],
  ['freeze x --every Fr', /^--every: 'Fr' does not parse/],
  ['freeze x --every Friday --timezone Mars', /^--timezone: 'Mars' is not a time zone/],
  ['freeze x --between 10:00-12:00', /^--between needs --every/],
  ['calendar --weeks 99', /^--weeks: '99' is not a number from 1 to 8/],
])('%s', async (line, sentence) => {
  const { code, err } = await call(line, { env: { KUBECONFIG: kubeconfigOf('http://127.0.0.1:1') } });
  expect([code, err]).toEqual([2, expect.stringMatching(sentence)]);
});
