/** Errors of the API server and of the connection to it, as one sentence with the next step. */
import { KINDS } from '../../api/kinds.ts';
import { PROGRAM } from '../../client/actions/writes/plannedWrite.ts';
import { EXIT, Problem } from '../../client/problem.ts';
import { withCommands, withFullStop } from '../../core/text/commands.ts';
import { ApiError } from './kubeClient.ts';
import type { Selected } from './kubeconfig.ts';

/** The names of a cluster and its user in messages. */
export type ClusterNames = Pick<Selected, 'server' | 'context' | 'user'>;

/** The problem of an error; undefined for a fault in the program. */
export function problemOf(error: unknown, names: ClusterNames | undefined): Problem | undefined {
  if (error instanceof Problem) return error;
  if (!(error instanceof ApiError)) return undefined;
  const { server = '', context = '', user = '' } = names ?? {};
  const of = context ? ` of context '${context}'` : '';
  switch (error.code) {
    case 0:
      return new Problem(unansweredText(error, server, of));
    case 401:
      return new Problem(
        `The API server ${server}${of} does not accept the credentials of '${user}': they have expired or are wrong. Sign in again.`,
      );
    case 403:
      return new Problem(`${withFullStop(error.message)}${rolesText(error)}`);
    case 404:
      return new Problem(isUnknownKind(error) ? unknownKindText(error) : withFullStop(error.message));
    case 429:
      return new Problem(`The API server ${server}${of} is too busy: ${error.message}. Try again in a moment.`);
    default:
      return new Problem(withFullStop(messageOf(error)), EXIT.error);
  }
}

/** The roles of manifests/rbac for users, by resource; `view` is the cluster's own. */
export const USER_ROLES: Readonly<Record<string, readonly string[]>> = {
  gates: ['gate-viewer', 'gate-opener', 'gate-approver', 'gate-editor'],
  rollouts: ['view', 'rollout-controller-rollout-editor-role'],
  rolloutgates: ['rolloutgate-approver', 'rollout-controller-rolloutgate-editor-role'],
  rolloutschedules: ['rolloutschedule-viewer', 'rolloutschedule-editor'],
  rolloutbudgets: ['rolloutbudget-viewer', 'rolloutbudget-editor'],
};

/** The roles to ask an administrator for. A denial by a webhook or a policy names the next step itself. */
export function rolesText({ resource }: Pick<ApiError, 'resource'>): string {
  if (resource === undefined) return '';
  const roles = USER_ROLES[resource];
  const names = roles ? ` (${roles.join(', ')})` : '';
  return ` To get the right, ask an administrator for a role${names}: docs/install.md, "Who may do what".`;
}

/** The message, with the next step if the API server could not call one of our webhooks: only its message has that. */
export function messageOf({ message }: Pick<ApiError, 'message'>): string {
  if (!/failed calling webhook "[^"]*\.admission\.kuberik\.com"/.test(message)) return message;
  const text = `${withFullStop(message)} Nothing was changed.`;
  return withCommands(text, ['To find out why the webhook does not answer', `${PROGRAM} doctor`]);
}

/** Whether the error is about a path that the API server does not serve: its message has no name of an object. */
function isUnknownKind({ message }: ApiError): boolean {
  return message.includes('could not find the requested resource') || message === '404 page not found';
}

function unknownKindText({ path }: ApiError): string {
  const row = Object.values(KINDS).find(
    ({ group, resource }) => path.includes(`/${group}/`) && path.includes(`/${resource}`),
  );
  const kind = row ? `the kind ${row.kind} (${row.group})` : path;
  return `The cluster does not have ${kind}: is rollout-hooks installed, and is this the right context?`;
}

function unansweredText({ reason, message }: ApiError, server: string, of: string): string {
  const known = CONNECTION_ERRORS[reason];
  if (reason === 'Credentials')
    return `The credentials${of} could not be read: ${withFullStop(message || 'the plugin failed')}`;
  return `The API server ${server}${of} does not answer: ${withFullStop(known ?? message)}`;
}

const CONNECTION_ERRORS: Record<string, string> = {
  ECONNREFUSED: 'connection refused. Is the cluster running, and is this the right context?',
  ENOTFOUND: 'its name is unknown. Is this the right context, and are you on its network?',
  EAI_AGAIN: 'its name could not be looked up. Are you on its network?',
  ETIMEDOUT: 'no connection in time. Are you on its network?',
  ECONNRESET: 'it closed the connection',
  Timeout: 'no answer in time; --request-timeout allows more',
  CERT_HAS_EXPIRED: 'its certificate, or yours, has expired',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is signed by an authority that the kubeconfig does not name',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by an authority that the kubeconfig does not name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by an authority that the kubeconfig does not name',
};
