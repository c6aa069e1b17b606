/** The hook server's log has one line for each decision, and none for a sync that changes nothing. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  gate,
  kustomization,
  ref,
  rollout,
  rolloutGate,
  sharedCluster,
  staysTrue,
  waitFor,
} from './support/cluster.ts';
import { GATES, isFree, isHeld, requestGate } from './support/gates.ts';
import { variablesArrive } from './support/versions.ts';

const view = sharedCluster();
const { admin, developer, sre, flux, newNamespace, publish, dir } = view;

interface Line {
  level: string;
  kind?: string;
  namespace?: string;
  name?: string;
  reason?: string;
  msg: string;
}

/** The last one may be half written. */
function allLines(): Line[] {
  const lines = readFileSync(join(dir, 'hooks.log'), 'utf8').split('\n').slice(0, -1);
  return lines.map((line): Line => JSON.parse(line));
}

/** The decisions of one namespace. */
const linesOf = (ns: string) => allLines().filter(({ namespace, reason }) => namespace === ns && reason !== undefined);

/** `Kustomization/web Suspended` */
const short = ({ kind, name, reason }: Line) => `${kind}/${name} ${reason}`;
const toldOf = (ns: string) => linesOf(ns).map(short);

const tells = (ns: string, ...expected: string[]) =>
  waitFor(
    () => {
      expect(toldOf(ns)).toEqual(expect.arrayContaining(expected));
      return true;
    },
    `the log to tell ${expected.join(', ')}`,
  );

/** Writes the objects, which syncs them again, without a new decision; each decision in `once` was logged once. */
async function staysQuiet(ns: string, objects: Parameters<typeof admin.get>[0][], once: string[]): Promise<void> {
  const before = linesOf(ns);
  for (const object of objects) await admin.mergePatch(object, { metadata: { labels: { touched: 'yes' } } });
  await staysTrue(
    () => {
      expect(linesOf(ns)).toEqual(before);
      return true;
    },
    'the log to be quiet',
    3000,
  );
  const written = before.map(short);
  expect(once.map((line) => [line, written.filter((each) => each === line).length])).toEqual(
    once.map((line) => [line, 1]),
  );
}

describe('the log', () => {
  it('of a release that waits for a gate, and of a freeze', async () => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'freeze', { spec: { default: 'opened' } }));
    await admin.create(rolloutGate(ns, 'qa', 'app', { passing: false }));
    await publish(ns, 'app', '1.0.0');
    await developer.create(rollout(ns, 'app'));
    const web = kustomization(ns, 'web', { variables: { APP_VERSION: 'app' }, annotations: { [GATES]: 'freeze' } });
    await flux.apply(web, { manager: 'kustomize-controller' });
    await tells(ns, 'Rollout/app SomeGatesBlocking');
    await admin.mergePatch(ref('rolloutGate', ns, 'qa'), { spec: { passing: true } });
    await variablesArrive(admin, ns, 'web', { APP_VERSION: '1.0.0' });
    await tells(ns, 'Rollout/app DeploymentSucceeded', 'Kustomization/web VersionSet');

    await requestGate(sre, ns, 'freeze', 'close');
    await isHeld(admin, web);
    const edit = await developer.mergePatch(web as never, { spec: { path: './other' } }).catch((error) => error);
    expect(String(edit)).toContain('freeze');
    const synced = { ...web, spec: { ...web.spec, path: './git' } };
    for (let again = 0; again < 3; again++) await flux.apply(synced, { manager: 'kustomize-controller' });
    await tells(ns, 'Gate/freeze CloseRequested', 'Gate/freeze GateClosed', 'Kustomization/web Suspended');
    await tells(ns, 'Kustomization/web Denied', 'Kustomization/web Reverted');

    await requestGate(sre, ns, 'freeze', 'open');
    await isFree(admin, web);
    await tells(ns, 'Gate/freeze GateOpened', 'Kustomization/web Released');
    const touched = [ref('rollout', ns, 'app'), ref('gate', ns, 'freeze'), web as never];
    await staysQuiet(ns, touched, [
      'Rollout/app DeploymentSucceeded',
      'Kustomization/web VersionSet',
      'Gate/freeze CloseRequested',
      'Gate/freeze GateClosed',
      'Kustomization/web Suspended',
      'Kustomization/web Denied',
      'Kustomization/web Reverted',
      'Gate/freeze GateOpened',
      'Kustomization/web Released',
    ]);
  });
});
