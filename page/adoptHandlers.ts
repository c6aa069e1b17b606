/** Adoption on the page: objects without a Rollout, the plan of `adopt` for one, and its writes. */
import type { FluxObject, ImagePolicy, ImageRepository } from '../api/flux.ts';
import { KINDS, type KindName, resourceOf } from '../api/kinds.ts';
import type { AnyObject } from '../api/kubernetes.ts';
import type { Rollout } from '../api/types.ts';
import { type Adoption, adopt, adoptCommandOf, adoptWrites } from '../client/actions/writes/adoption.ts';
import { kubectlOf, type WriteRequest } from '../client/actions/writes/plannedWrite.ts';
import {
  type AdoptList,
  type AdoptPlan,
  type AdoptPreview,
  type AdoptRequest,
  unboundObjects,
} from '../client/board/adoptViews.ts';
import type { Answer, Rights } from '../client/board/pageMessages.ts';
import type { Right } from '../client/explain/application.ts';
import { Problem } from '../client/problem.ts';
import { isApiError, type KubeClient } from '../connection/kube/kubeClient.ts';
import { makeWrite, type Sent } from '../connection/kube/sent.ts';
import { adoptionDiff, makeAdoption, readAdoptionContext } from '../connection/makeAdoption.ts';
import { listInAnyVersion } from '../connection/read/namedObjects.ts';
import { pluralOf } from '../core/text/count.ts';
import { failedAnswer } from './handlers.ts';

/** The most objects that are listed; further ones are only counted. */
const MAX_LISTED = 1000;

export type AdoptHandlers = ReturnType<typeof createAdoptHandlers>;

interface AdoptOptions {
  client: KubeClient;
  /** The only namespace to read; undefined: all. */
  namespace: string | undefined;
  /** The namespace to read if the reader can't read the whole cluster. */
  fallback: string;
  rollouts(): Iterable<Rollout>;
  rightsOf(needs: readonly Right[]): Promise<Rights>;
}

export function createAdoptHandlers({ client, namespace, fallback, rollouts, rightsOf }: AdoptOptions) {
  const readAdoption = async ({ kind, choices: _, ...ref }: AdoptRequest) => {
    const object = await client.get<FluxObject>({ ...resourceOf(KINDS[kind]), ...ref });
    if (!object) throw new Problem(`There is no ${kind} ${ref.name} in namespace ${ref.namespace}.`);
    return { object, related: await readAdoptionContext(client, object) };
  };
  return {
    async list(): Promise<AdoptList> {
      const unread: string[] = [];
      const all = async <T extends AnyObject>(kind: KindName): Promise<T[]> => {
        try {
          return await listInAnyVersion<T>(client, kind, namespace).catch((error) => {
            if (namespace === undefined && isApiError(error, 403)) return listInAnyVersion<T>(client, kind, fallback);
            throw error;
          });
        } catch (error) {
          if (!isApiError(error)) throw error;
          unread.push(`${pluralOf(kind)}: ${error.message}`);
          return [];
        }
      };
      const [policies, repositories, ...objects] = await Promise.all([
        all<ImagePolicy>('ImagePolicy'),
        all<ImageRepository>('ImageRepository'),
        all<FluxObject>('Kustomization'),
        all<FluxObject>('OCIRepository'),
        all<FluxObject>('HelmRelease'),
      ]);
      const unbound = unboundObjects(objects.flat(), { policies, repositories, rollouts: [...rollouts()] });
      return { objects: unbound.slice(0, MAX_LISTED), count: unbound.length, unread };
    },
    /** The plan to adopt one object. */
    async preview(requested: AdoptRequest): Promise<AdoptPreview> {
      const may: Pick<AdoptPreview, 'policies' | 'variables'> = { policies: [], variables: [] };
      try {
        const { object, related } = await readAdoption(requested);
        const { substitute = {} } = (object.spec?.postBuild ?? {}) as { substitute?: Record<string, string> };
        may.policies = related.policies.map(({ metadata }) => metadata.name ?? '');
        may.variables = Object.keys(substitute);
        const plan = await planOf(object, adopt(object, related, requested.choices), requested);
        return { ...may, plan, rights: await rightsOf(plan.needs) };
      } catch (error) {
        if (!(error instanceof Problem) && !isApiError(error)) throw error;
        return { ...may, problem: error.message, rights: {} };
      }
    },
    /** Makes the writes. `agreed`: the diff that the user has confirmed; if it has changed, nothing is written. */
    async make(requested: AdoptRequest, agreed: string): Promise<Answer> {
      try {
        const { object, related } = await readAdoption(requested);
        const adoption = adopt(object, related, requested.choices);
        if ((await diffOf(object, adoption)) === agreed) return await makeWrites(client, { object, adoption });
        throw new Problem('The plan has changed since it was shown. Nothing was written: check it again.');
      } catch (error) {
        return failedAnswer(error);
      }
    },
  };
}

async function planOf(object: FluxObject, adoption: Adoption, { choices }: AdoptRequest): Promise<AdoptPlan> {
  const { creates, bind } = adoptWrites(adoption);
  const writes = [...creates, bind];
  return {
    version: adoption.version,
    rollout: adoption.rolloutRef.name,
    diff: await diffOf(object, adoption),
    notes: adoption.notes,
    command: adoptCommandOf(adoption.object, choices),
    kubectl: writes.map((write) => kubectlOf(write)).join('\n'),
    needs: writes.map(rightOf),
  };
}

async function diffOf(object: FluxObject, adoption: Adoption): Promise<string> {
  return (await adoptionDiff(object, adoption)).join('\n');
}

/** The right for a write. A right to create has no name. */
function rightOf({ object: { group, resource, namespace, name }, creates }: WriteRequest): Right {
  return { verb: creates ? 'create' : 'patch', group, resource, namespace, name: creates ? '' : name };
}

/** Makes the writes. The answer lists those before a refusal too: they stay, and change nothing that runs. */
async function makeWrites(client: KubeClient, of: Parameters<typeof makeAdoption>[1]): Promise<Answer> {
  const made: Sent[] = [];
  const answerWith = ({ message, warnings, ...answer }: Answer): Answer => ({
    ...answer,
    message: [...made.map(({ request }) => `${request.text}.`), message].filter(Boolean).join(' '),
    warnings: [...made.flatMap((sent) => sent.warnings), ...warnings],
  });
  try {
    await makeAdoption(client, of, async (plan) => {
      const sent = await makeWrite(client, plan);
      if ('request' in sent) made.push(sent);
    });
    return answerWith({ ok: true, message: '', warnings: [] });
  } catch (error) {
    return answerWith(failedAnswer(error));
  }
}
