/** The child of spec.writeBack: when it is wanted, and the message of Ready if it can't exist. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { CompositeRequest } from '../../../api/metacontroller.ts';
import type { Rollout, RolloutStatus } from '../../../api/types.ts';
import { mapOf } from '../../../dev/fakes/requests.ts';
import { rolloutHook } from '../../../hooks/rollout/rolloutHook.ts';
import { fakeCall, imagePolicy, object, request, rollout } from './call.ts';
import { deployed } from './sync.ts';

const KEY = 'ImagePolicy.image.toolkit.fluxcd.io/v1';
const READ = 'get imagepolicies team-a app-deployed';
const parent = () => rollout({ writeBack: { imagePolicy: 'app-deployed' } }, deployed);

function policy(owner?: string): KubeObject<any, any> {
  const ownerReferences = [
    { apiVersion: 'kuberik.com/v1alpha1', kind: 'Rollout', name: 'app', uid: owner, controller: true },
  ];
  const found = object('image.toolkit.fluxcd.io/v1', 'ImagePolicy', 'app-deployed', {
    imageRepositoryRef: { name: 'mine' },
  });
  return { ...found, metadata: { ...found.metadata, ...(owner && { ownerReferences }) } } as KubeObject<any, any>;
}

interface Around {
  children?: KubeObject<any, any>[] | 'not installed';
  objects?: KubeObject<any, any>[];
  related?: KubeObject<any, any>[];
}

async function sync(
  subject = parent(),
  { children = [], objects = [], related = [imagePolicy('1.1.0')] }: Around = {},
) {
  const { call, reads } = fakeCall({ objects: [...related, ...objects, subject as unknown as KubeObject] });
  const policies = children === 'not installed' ? undefined : children;
  const body: CompositeRequest<Rollout> = {
    ...request(subject, related),
    children: policies ? { [KEY]: {}, ...mapOf(...policies) } : {},
  };
  const answer = await rolloutHook.sync(body, call);
  const status = answer.status as RolloutStatus;
  return {
    ...answer,
    tags: status.history?.map(({ version }) => version.tag),
    ready: status.conditions?.find(({ type }) => type === 'Ready'),
    reads,
  };
}

describe('spec.writeBack', () => {
  const places: [where: string, around: Around][] = [
    ['is not there yet', {}],
    ['was just made and is not in the cache', { objects: [policy('uid-of-app')] }],
    ['is there', { children: [policy('uid-of-app')] }],
  ];
  it.each(places)(
    'asks for an ImagePolicy of what is stored, not of what is being stored, where it %s',
    async (_, around) => {
      const answer = await sync(parent(), around);
      expect(answer.tags).toEqual(['1.1.0', '1.0.0']);
      expect(answer.children).toMatchObject([
        { metadata: { name: 'app-deployed', namespace: 'team-a' }, spec: { filterTags: { pattern: '^1\\.0\\.0$' } } },
      ]);
      expect(answer.reads.includes(READ)).toBe(!around.children);
    },
  );

  it('deploys nothing if the installation has no such children, as Ready reports', async () => {
    const answer = await sync(parent(), { children: 'not installed' });
    expect(answer.children).toEqual([]);
    expect(answer.tags).toEqual(['1.0.0']);
    expect(answer.ready?.message).toBe(
      "ImagePolicy 'app-deployed' is not written: the component write-back is not installed",
    );
  });
});
