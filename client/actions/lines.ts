/** An action as command lines: ours, its equivalent with kubectl, and both in the form of `why`. */
import type { GovernedKind } from '../../api/kinds.ts';
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

/**
 * Our command line and that of kubectl. `found`: the object to write. If it could not be read, there is only our
 * command, which reads the object itself.
 */
export function linesOf(
  request: ActionRequest,
  found: AnyObject | undefined,
  now: EpochMs,
): { command: string; kubectl: string } {
  const command = commandOf(request);
  const write = writeOf(request, found, now);
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
