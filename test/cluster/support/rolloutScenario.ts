/** A Rollout with its objects, and steps on it: deploy, apply, report health, read the head. */
import { expect } from 'vitest';
import { ONE_SHOT, ROLLOUT_PREFIX } from '../../../api/annotations.ts';
import { requestKey } from '../../../core/rollout/evaluation/rolloutRequests.ts';
import { fakeFlux } from '../../../dev/actors/fakeFlux.ts';
import { objectOf } from '../../support/objects.ts';
import {
  type AnyObject,
  type ClusterView,
  kustomization,
  ociRepository,
  ref,
  rollout,
  rolloutGate,
  waitFor,
} from './cluster.ts';
import { conditionOf, tagArrives, variablesArrive } from './versions.ts';

const LABELS = { app: 'app' };
/** Watches the HealthCheck of `healthCheck`. */
export const SELECTS_HEALTH = { healthCheckSelector: { selector: { matchLabels: LABELS } } };

export const inSeconds = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;
export const secondsOf = (time: string): number => Date.parse(time) / 1000;

/** The HealthCheck `app` of a namespace. */
export const healthCheck = (namespace: string, spec: object = {}) =>
  objectOf('HealthCheck', { metadata: { namespace, name: 'app', labels: LABELS }, spec }) as AnyObject;

/** The Rollout `app` of a namespace, with actions and expectations for it. */
export function scenarioOf(view: ClusterView, ns: string) {
  const { admin, developer, publish } = view;
  const flux = fakeFlux(view);
  const app = ref('rollout', ns, 'app');
  const statusOf = async (): Promise<AnyObject> => (await admin.get(app)).status ?? {};
  const head = async (): Promise<AnyObject> => (await statusOf()).history?.[0] ?? {};

  const fetched = async (tag: string) => {
    await tagArrives(admin, ns, 'app', tag);
    await flux.fetch(ns, 'app');
    await variablesArrive(admin, ns, 'app', { APP_VERSION: tag });
    // An object that was created meanwhile has the variable from the start.
    await waitFor(
      async () => (await admin.get(ref('kustomization', ns, 'app'))).spec.suspend !== true,
      'its resumption',
    );
  };

  return {
    ns,
    app,
    flux,
    statusOf,
    head,
    create: (spec: Record<string, unknown> = {}) => developer.create(rollout(ns, 'app', { spec })),
    /** An OCIRepository and its Kustomization, both bound to the Rollout. */
    bind: async () => {
      await developer.create(ociRepository(ns, 'app', { rollout: 'app' }));
      await developer.create(kustomization(ns, 'app', { variables: { APP_VERSION: 'app' } }));
    },
    watch: (spec?: object) => admin.create(healthCheck(ns, spec)),
    publish: (tag: string, digest?: string) => publish(ns, 'app', tag, digest),
    /**
     * Waits for the tag in the bound OCIRepository, fetches it as Flux, and waits for the Kustomization's variable and
     * resume.
     */
    fetched,
    /** Fetches and applies the new tag of the bound objects, as Flux. */
    arrive: async (tag: string) => {
      await fetched(tag);
      await flux.apply(ns, 'app');
    },
    /** Reports health as a monitor does now; an error has its time. */
    report: async (status: string, message: string | null = null) => {
      const at = inSeconds(Date.now());
      const error = status === 'Unhealthy' && { lastErrorTime: at };
      await admin.patchStatus(ref('healthCheck', ns, 'app'), { status, message, lastChangeTime: at, ...error });
    },
    healthReset: () =>
      waitFor(async () => {
        const { status } = await admin.get(ref('healthCheck', ns, 'app'));
        return status?.message === 'Health check reset due to new deployment';
      }, 'the reset of the HealthCheck'),
    ask: (annotations: Record<string, string | null>) => {
      const named = Object.entries(annotations).map(([key, value]) => [`${ROLLOUT_PREFIX}${key}`, value]);
      return developer.mergePatch(app, { metadata: { annotations: Object.fromEntries(named) } });
    },
    /** The request annotations that are left, without prefix. */
    asked: async () => {
      const annotations = (await admin.get(app)).metadata.annotations ?? {};
      return ONE_SHOT.filter((key) => annotations[key] !== undefined).map(requestKey);
    },
    spec: (spec: Record<string, unknown>) => developer.mergePatch(app, { spec }),
    headIs: (tag: string, expected: object | string) => {
      const fields = typeof expected === 'string' ? { bakeStatus: expected } : expected;
      return waitFor(
        async () => {
          const found = await head();
          expect(found).toMatchObject({ version: { tag }, ...fields });
          return found;
        },
        `${tag} to be the head with ${JSON.stringify(fields)}`,
      );
    },
    conditionIs: (type: string, expected: object) =>
      waitFor(
        async () => {
          const condition = conditionOf(await admin.get(app), type);
          expect(condition).toMatchObject(expected);
          return condition;
        },
        `${type} to be ${JSON.stringify(expected)}`,
      ),
  };
}

export type RolloutScenario = ReturnType<typeof scenarioOf>;

/** Waits for the next second: stored times have whole seconds, and later events get a later time. */
export async function nextSecond(): Promise<void> {
  const second = Math.floor(Date.now() / 1000);
  await waitFor(() => Math.floor(Date.now() / 1000) > second, 'the next second');
}

/** The Rollout `app` of a new namespace, with 1.0.0 deployed and 1.1.0 waiting for the RolloutGate `qa`. */
export async function storyAtQa(view: ClusterView) {
  const scenario = scenarioOf(view, await view.newNamespace());
  await scenario.create();
  await scenario.bind();
  await scenario.publish('1.0.0');
  await scenario.arrive('1.0.0');
  await view.admin.create(rolloutGate(scenario.ns, 'qa', 'app', { passing: true, allowedVersions: ['1.0.0'] }));
  await scenario.publish('1.1.0');
  return scenario;
}
