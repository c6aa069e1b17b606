/** An action as command lines: ours, its equivalent with kubectl, and both in the form of `why`. */
import { CLOSE_REASON, DEPLOY_MESSAGE, OPEN_FOR, OPEN_REASON } from '../../api/annotations.ts';
import { apiVersionOf, GOVERNED_KINDS, type GovernedKind, KINDS } from '../../api/kinds.ts';
import type { AnyObject, EpochMs } from '../../api/kubernetes.ts';
import { oneLine } from '../../core/text/oneLine.ts';
import { quote, WHY } from '../../core/text/shell.ts';
import type { CommandView } from '../explain/application.ts';
import type { Action, ActionRequest } from './action.ts';
import { possibleActions } from './offer.ts';
import { ACTIONS, takesReason, writeOf } from './table.ts';
import { isRequest, kubectlOf, PROGRAM, REASON_PLACEHOLDER } from './writes/plannedWrite.ts';

/** The names of kinds in Flux's command. */
const FLUX_NAMES: Record<GovernedKind, string> = {
  Kustomization: 'kustomization',
  HelmRelease: 'helmrelease',
  ImageUpdateAutomation: 'image update',
  GitRepository: 'source git',
  OCIRepository: 'source oci',
  HelmRepository: 'source helm',
  Bucket: 'source bucket',
};

/** Our command line for an action; undefined if only kubectl makes that write. */
export function commandOf(request: ActionRequest): string | undefined {
  const { type, object } = request;
  const reason = takesReason(request) ? request.reason : undefined;
  const scope = object.namespace ? ['-n', object.namespace] : [];
  if (type === 'resume') return line(`flux resume ${FLUX_NAMES[object.kind as GovernedKind]}`, [object.name, ...scope]);
  const words = ACTIONS[type].words?.(request);
  if (!words) return undefined;
  const why = reason === REASON_PLACEHOLDER ? ` --reason ${WHY.expanded}` : reason ? ` --reason ${quote(reason)}` : '';
  return line(PROGRAM, [...words, ...scope]) + why;
}

function line(program: string, words: readonly string[]): string {
  return [program, ...words.map(quote)].join(' ');
}

/** Our command line and that of kubectl. `found`: the object to write, if it could be read. */
export function linesOf(
  request: ActionRequest,
  found: AnyObject | undefined,
  now: EpochMs,
): { command: string; kubectl: string } {
  const command = commandOf(request);
  const write = writeOf(request, found ?? sketchOf(request), now);
  const kubectl = isRequest(write) ? kubectlOf(write, now) : found || !command ? `# ${oneLine(write.none)}` : command;
  return { command: command ?? kubectl, kubectl };
}

/** The command lines with flags, for another cluster than that of the current context. */
export function inContext(lines: string, context: string): string {
  return withFlags(lines, ['--context', context]);
}

/** The text with these flags in each line that is a command, perhaps indented. */
export function withFlags(text: string, flags: readonly string[]): string {
  if (flags.length === 0) return text;
  return text.replace(/^( *)((?:kubectl|flux) rollouts|kubectl|flux)(?= )/gm, (_, indent: string, program: string) =>
    indent.concat(line(program, flags)),
  );
}

/** The actions that are possible now, as `why` and `-o json` list them. */
export function commandViewsOf(actions: readonly Action[], now: EpochMs): CommandView[] {
  return possibleActions(actions, now).map(({ request, found, label, rights, step }) => {
    const why = takesReason(request) ? { reason: REASON_PLACEHOLDER } : {};
    return {
      text: label.charAt(0).toLowerCase() + label.slice(1),
      ...linesOf({ ...request, ...why }, found, now),
      rights,
      ...(step !== undefined && { step }),
    };
  });
}

/**
 * Stands in for an object that could not be read: it has the fields that the write depends on, such as annotations that
 * the write removes. undefined for a write that replaces a list or creates a Gate.
 */
function sketchOf({ type, object, version, image }: ActionRequest): AnyObject | undefined {
  const sketch = (spec: object, annotations: Record<string, string> = {}, status = {}) => ({
    apiVersion: apiVersionOf(KINDS[object.kind]),
    kind: object.kind,
    metadata: { namespace: object.namespace, name: object.name, annotations },
    spec,
    status,
  });
  switch (object.kind) {
    case 'Rollout':
      return sketch({}, { [DEPLOY_MESSAGE]: '' });
    case 'RolloutGate':
      return type === 'open' || type === 'close' ? sketch({ passing: type === 'close' }) : undefined;
    case 'Gate': {
      if (type === 'freeze' || type === 'create') return undefined;
      const annotations = { [OPEN_REASON]: '', [OPEN_FOR]: '', [CLOSE_REASON]: '' };
      const isVote = type === 'approve' || type === 'withdraw';
      const spec = { default: type === 'close' ? 'opened' : 'closed', ...(isVote && { approvals: { required: 1 } }) };
      return sketch(spec, annotations);
    }
    case 'RolloutBudget':
    case 'ClusterRolloutBudget':
      return sketch({}, {}, { versions: [{ version, image, failed: 1, blocked: true }] });
    default:
      return GOVERNED_KINDS.some(({ kind }) => kind === object.kind) ? sketch({ suspend: true }) : undefined;
  }
}
