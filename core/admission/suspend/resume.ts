/**
 * A suspended object is resumed in its applier's next apply, so that the new spec and the new artifact arrive together
 * (docs/facts.md, F4). A hook can annotate only its own object: the child's FluxBinding carries a label with its
 * applier's name while it waits, the applier's decorator relates the bindings with that label and annotates the applier. What
 * the applier then does comes back in the binding's status.
 */
import { GATE_STATE } from '../../../api/annotations.ts';
import type { FluxObject, KustomizationStatus } from '../../../api/flux.ts';
import { governedKindOf } from '../../../api/kinds.ts';
import type { EpochMs, NamespacedName } from '../../../api/kubernetes.ts';
import type { FluxBindingSpec, FluxBindingStatus } from '../../../api/types.ts';
import { labelValue } from '../../kube/names.ts';
import { formatInstant, formatTime, parseTime } from '../../kube/time.ts';
import { pinAnnotationsOf } from '../managedFields/annotations.ts';
import { type Applied, type Awaits, applierOf, applierState, applies, NOT_LISTED, waitEnds } from './applier.ts';
import { parseState } from './stateAnnotation.ts';

/** Value of RESUME_LABEL for a Kustomization. */
export function resumeLabel({ namespace, name }: NamespacedName): string {
  return labelValue(`${namespace}.${name}`);
}

/** How many objects ask for the same applier at once: one apply resumes all of them, and each is sent with it to its hook. */
export const MAX_ASKING = 10;

/** Whether an object that waits for this Kustomization may ask for its apply. */
export function mayAsk(applier: FluxObject | undefined, applied: Applied): boolean {
  return applier !== undefined && applies(applier, applied) !== false;
}

/** The applier that the object waits for, and since when; undefined when it waits for none. */
export function awaitedApply(object: FluxObject): FluxBindingSpec['awaits'] {
  const state = parseState(object.metadata.annotations?.[GATE_STATE]);
  const applier = applierOf(object);
  return state?.is === 'opening' && applier ? { ...applier, since: formatInstant(state.since) } : undefined;
}

/** For the binding's status. A try that is under way does not hide that the last one failed: a retry changes nothing. */
export function awaitsOf(
  awaited: FluxBindingSpec['awaits'],
  before: Awaits | undefined,
  applier: FluxObject | undefined,
  applied: Applied,
  now: EpochMs,
): Awaits | undefined {
  if (!awaited) return undefined;
  const same = isAbout(before, awaited) ? before : undefined;
  const found = applierState(applier, applied, parseTime(awaited.since) ?? now, now);
  if (same?.state === 'Failing' && found.state === 'Asked') return same;
  const stateSince = same?.state === found.state ? same.stateSince : formatInstant(now);
  return { ...awaited, ...found, stateSince };
}

/** What the binding says of the very wait that the object is in; undefined while it has not looked yet. */
export function currentAwaits(object: FluxObject, status: FluxBindingStatus | undefined): Awaits | undefined {
  const awaited = awaitedApply(object);
  return awaited && isAbout(status?.awaits, awaited) ? status?.awaits : undefined;
}

/** When an object that waits so is resumed without its applier; undefined while that is not to be expected. */
export function resumedAloneAt(awaits: Awaits | undefined): EpochMs | undefined {
  const from = parseTime(awaits?.stateSince);
  return awaits && from !== undefined ? waitEnds(awaits, from) : undefined;
}

/** `until Kustomization flux-system/apps applies it again; its last try failed: BuildFailed` */
export function awaitsText(awaits: Awaits): string {
  const { namespace, name, since, state, reason } = awaits;
  const text = `until Kustomization ${namespace}/${name} applies it again`;
  const end = resumedAloneAt(awaits);
  const alone = end === undefined ? '' : `resumed without it at ${formatTime(end)}`;
  if (state === 'Failing') return `${text}; its last try failed: ${reason}`;
  if (state === 'Suspended') return `${text}, which is suspended; ${alone}`;
  if (reason === NOT_LISTED) return `${text}, which does not list it in its inventory; ${alone}`;
  if (state === 'Missing') return `${text}, which does not exist; ${alone}`;
  if (state === 'Deleting') return `${text}, which is being deleted; ${alone}`;
  if (state === 'Done') return `${text}; it has applied everything since, but not this; ${alone}`;
  return `${text}, as asked at ${since}`;
}

/**
 * Whether a Kustomization relates the bindings that wait for it. Not all do: each change of any binding is matched against
 * every one that does. Its inventory says what it applies; without one that a Rollout pins is a leaf, as a rule. Where this
 * answer is wrong (it is cached by generation), the object waits for the applier's next apply without asking for it.
 */
export function mayApplyFluxObjects(object: FluxObject): boolean {
  if (object.kind !== 'Kustomization') return false;
  const inventory = (object.status as KustomizationStatus | undefined)?.inventory?.entries ?? [];
  if (inventory.length === 0) return pinAnnotationsOf(object).pins.length === 0;
  // `<namespace>_<name>_<group>_<kind>`
  return inventory.some(({ id }) => {
    const [, , group, kind] = id.split('_');
    return governedKindOf(group ?? '', kind ?? '') !== undefined;
  });
}

function isAbout(awaits: Awaits | undefined, { namespace, name, since }: NamespacedName & { since: string }): boolean {
  return awaits?.namespace === namespace && awaits.name === name && awaits.since === since;
}
