/** Answers to the page's requests, except its stream: one application or Gate, the user's rights, and writes. */
import { governedKindOf, KINDS, resourceOf } from '../api/kinds.ts';
import type { AnyObject, EpochMs, NamespacedName } from '../api/kubernetes.ts';
import type { Gate, Rollout } from '../api/types.ts';
import { type Action, type ActionRequest, lackingText, rightKey, rightOn } from '../client/actions/action.ts';
import { linesOf } from '../client/actions/lines.ts';
import { rolloutActions } from '../client/actions/rolloutActions.ts';
import { rightsOf as neededFor, writeOf } from '../client/actions/table.ts';
import { isRequest, type NoRequest } from '../client/actions/writes/plannedWrite.ts';
import type { Answer, ApplicationPageData, ObjectPageData, Preview, Rights } from '../client/board/pageMessages.ts';
import type { Right } from '../client/explain/application.ts';
import { approvalViews } from '../client/explain/approvalViews.ts';
import { type ObjectDetails, objectDetails } from '../client/explain/objectDetails.ts';
import { Problem } from '../client/problem.ts';
import { messageOf } from '../connection/kube/apiProblems.ts';
import {
  createSharedReads,
  isApiError,
  type KubeClient,
  reviewRights,
  unlessRefused,
} from '../connection/kube/kubeClient.ts';
import { withoutManagedFields, yamlText } from '../connection/kube/objectText.ts';
import { makeWrite } from '../connection/kube/sent.ts';
import { explainObject } from '../connection/read/explained.ts';
import { readSelected } from '../connection/read/heldObjects.ts';
import { readTarget } from '../connection/read/namedObjects.ts';
import type { CoreEvent } from '../core/audit/eventRecords.ts';
import { groupOf, identityOf } from '../core/kube/names.ts';
import { withFullStop } from '../core/text/commands.ts';
import type { Views } from './views.ts';

/** The time for which access reviews are cached: rights seldom change, and every application needs the same. */
const RIGHTS_CACHED_MS = 30_000;
/** The most objects in the preview of a freeze. */
const MAX_PREVIEW = 200;

export type PageHandlers = ReturnType<typeof createHandlers>;

export function createHandlers(client: KubeClient, views: Views, now: () => EpochMs) {
  const reads = createSharedReads(now);

  /** Whether the user has each right. */
  const rightsOf = (rights: readonly Right[]): Promise<Rights> =>
    reviewRights(rights, (right) =>
      reads.recent(RIGHTS_CACHED_MS, rightKey(right), () => client.mayI(right).catch(() => false)),
    );

  /** Makes the write. `basis`: the state that the action was offered for. */
  const act = async (request: ActionRequest, dryRun: boolean, basis?: string): Promise<Answer> => {
    const plan = async () => writeOf(request, await readObject(client, request), now());
    try {
      const sent = await makeWrite(client, plan, { dryRun, offered: { basis } });
      if ('none' in sent) return noRequestAnswer(sent, dryRun);
      const { warnings } = sent;
      if (sent.unrecorded) return { ok: false, message: sent.unrecorded, warnings };
      if (!dryRun) return { ok: true, warnings, message: 'The API server has accepted it.' };
      // Before the user confirms, the concerns are shown with the Warnings of the API server.
      const concerns = sent.request.concerns.map(withFullStop);
      return { ok: true, warnings: [...concerns, ...warnings], message: 'The API server would accept it.' };
    } catch (error) {
      return failedAnswer(error);
    }
  };

  return {
    async application(id: string): Promise<ApplicationPageData | undefined> {
      const application = views.application(id);
      const rollout = views.objects.get<Rollout>('Rollout', id);
      if (!application || !rollout) return undefined;
      const actions = rolloutActions(rollout, application, views.objects.related(rollout), now());
      const releases = [...(rollout.status?.availableReleases ?? [])].reverse();
      const ofVersions = rightOn('patch', 'Rollout', identityOf(rollout));
      const rights = await rightsOf([...actions.flatMap((action) => action.rights), ofVersions]);
      return { application, actions: actions.map(reduced), releases, rights };
    },
    /** Any other object; undefined if it does not exist or the reader can't read it. */
    async object(kind: string, { namespace, name }: NamespacedName): Promise<ObjectPageData | undefined> {
      try {
        const target = await readTarget({ client, namespace }, `${kind}/${namespace}/${name}`);
        const { object } = target;
        const isGate = target.kind === 'Gate';
        const waiting = isGate ? views.waitingFor(`${namespace}/${name}`) : [];
        const [found, details] = await Promise.all([
          explainObject(client, target, now(), waiting),
          readDetails(client, object),
        ]);
        const actions = found.actions.map(reduced);
        const rights = await rightsOf(actions.flatMap((action) => action.rights));
        const approvals = isGate ? approvalViews(object as Gate, waiting, now()) : [];
        return { ...found, ...details, actions, rights, approvals };
      } catch (error) {
        if (error instanceof Problem || isApiError(error, 403)) return undefined;
        throw error;
      }
    },
    rightsOf,
    act,
    /** The objects that a freeze would hold, and its write. */
    async preview(request: ActionRequest): Promise<Preview> {
      // A user may create a Gate without the right to read one; `act` reports what is refused.
      const existing = (await unlessRefused(readObject(client, request), 403)) as Gate | undefined;
      const write = writeOf(request, existing, now());
      const needed = neededFor(request, existing);
      const [answer, { held, unread }, rights] = await Promise.all([
        act(request, true),
        isRequest(write) ? readSelected(client, existing ?? (write.body as unknown as Gate)) : { held: [], unread: [] },
        rightsOf(needed),
      ]);
      const lacks = lackingText(needed, rights);
      const commands = linesOf(request, existing, now());
      const objects = held.slice(0, MAX_PREVIEW);
      return { answer, objects, count: held.length, unread, commands, ...(lacks && { lacks }) };
    },
  };
}

/** Reads the details of an object: its Events, and its YAML. */
async function readDetails(client: KubeClient, object: AnyObject): Promise<{ details: ObjectDetails; yaml: string }> {
  const { metadata } = object;
  const events = client.list<CoreEvent>({
    apiVersion: 'v1',
    resource: 'events',
    // Events of cluster-scoped objects live in `default`.
    namespace: metadata.namespace ?? 'default',
    fieldSelector: `involvedObject.uid=${metadata.uid}`,
  });
  return {
    details: objectDetails(object, await unlessRefused(events, 403)),
    yaml: await yamlText(withoutManagedFields(object)),
  };
}

function readObject(client: KubeClient, { object: { kind, namespace, name } }: ActionRequest) {
  return client.get<AnyObject>({ ...resourceOf(KINDS[kind]), namespace: namespace || undefined, name });
}

/** The action, without the long fields that its write does not depend on. */
function reduced(action: Action): Action {
  const { found } = action;
  if (found && governedKindOf(groupOf(found.apiVersion), found.kind))
    return { ...action, found: { ...withoutManagedFields(found), status: {} } };
  if (found?.kind !== KINDS.Rollout.kind) return action;
  const { history = [], pendingVersion, handledRequest, namedGates, observedGeneration } = found.status ?? {};
  const status = { history: history.slice(0, 1), pendingVersion, handledRequest, namedGates, observedGeneration };
  return { ...action, found: { ...found, status } };
}

/** The answer if there is nothing to write: in a dry run a warning, since the user can still change inputs. */
function noRequestAnswer({ none, isWrong }: NoRequest, dryRun: boolean): Answer {
  return dryRun ? { ok: true, message: '', warnings: [none] } : { ok: !isWrong, message: none, warnings: [] };
}

/** The answer if the write failed. @throws the error if it is none for users */
export function failedAnswer(error: unknown): Answer {
  if (error instanceof Problem) return { ok: false, message: error.message, warnings: [] };
  if (!isApiError(error)) throw error;
  return { ok: false, code: error.code, message: messageOf(error), warnings: error.warnings };
}
