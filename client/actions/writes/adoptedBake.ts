/**
 * The bakes of an adopted application: their times, and the HealthCheck that they watch, of what its Kustomization has
 * applied.
 */
import { HEALTHCHECK_KUSTOMIZATION } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import { KINDS } from '../../../api/kinds.ts';
import type { NamespacedName } from '../../../api/kubernetes.ts';
import type { HealthCheck } from '../../../api/types.ts';
import { KUSTOMIZATION_CLASS } from '../../../core/health/kustomizationCheck.ts';
import { parseDuration } from '../../../core/kube/duration.ts';
import { identityOf, labelValue } from '../../../core/kube/names.ts';
import type { TextWithCommands } from '../../../core/text/commands.ts';
import { firstFew } from '../../../core/text/firstFew.ts';
import { shell } from '../../../core/text/shell.ts';
import { EXIT, Problem } from '../../problem.ts';
import { newObject, objectTitle } from './plannedWrite.ts';

/** The user's choices for the bake. */
export interface BakeChoices {
  bakeTime?: string | undefined;
  deployTimeout?: string | undefined;
  noBake?: true | undefined;
}

/** The default bake of a new Rollout. Without a bake, which users must choose, no version is watched and none fails. */
export const DEFAULT_BAKE = { bakeTime: '10m', deployTimeout: '30m' } as const;

/** The times of a Rollout's bake; empty without one. */
export type BakeTimes = Partial<Record<keyof typeof DEFAULT_BAKE, string>>;

/** The fields `bakeTime` and `deployTimeout` of a new Rollout, @throws Problem for invalid choices. */
export function bakeOf({ bakeTime, deployTimeout, noBake }: BakeChoices): BakeTimes {
  const requested = { '--bake-time': bakeTime, '--deploy-timeout': deployTimeout };
  for (const [flag, text] of Object.entries(requested)) {
    if (text === undefined) continue;
    if (noBake) throw new Problem('--no-bake excludes --bake-time and --deploy-timeout.', EXIT.usage);
    if (!parseDuration(text))
      throw new Problem(`${flag}: '${text.slice(0, 50)}' is not a duration such as 90s, 10m or 1h30m.`, EXIT.usage);
  }
  return noBake
    ? {}
    : { bakeTime: bakeTime ?? DEFAULT_BAKE.bakeTime, deployTimeout: deployTimeout ?? DEFAULT_BAKE.deployTimeout };
}

export function hasBakeChoice({ bakeTime, deployTimeout, noBake }: BakeChoices): boolean {
  return Boolean(bakeTime || deployTimeout || noBake);
}

export const UNREADABLE_FIX =
  'use a component health-of-…, or a ClusterRole of your own: docs/healthchecks.md, Class kustomization';

/** The Kustomization that applies the application. */
export interface Applier {
  kustomization: FluxObject;
  /** The resources of its inventory that the hook server isn't allowed to read; undefined if that is unknown. */
  unreadable: readonly string[] | undefined;
}

/** The Kustomization that applies the object: itself, or the only one whose source it is. */
export function applyingKustomization(
  object: FluxObject,
  kustomizations: readonly FluxObject[],
): FluxObject | undefined {
  if (object.kind === KINDS.Kustomization.kind) return object;
  const { name, namespace } = identityOf(object);
  const found = kustomizations.filter(({ spec }) => {
    const { sourceRef } = (spec ?? {}) as { sourceRef?: { kind?: string; name?: string; namespace?: string } };
    const isSame = sourceRef?.name === name && (sourceRef?.namespace ?? namespace) === namespace;
    return isSame && sourceRef?.kind === object.kind;
  });
  return found.length === 1 ? found[0] : undefined;
}

/** What is known about the health of the application. */
export interface ApplierHealth {
  /** undefined if no Kustomization applies it, or several do. */
  applier: Applier | undefined;
  /** Those of the namespace. */
  healthChecks: readonly HealthCheck[];
}

interface BakeHealth {
  /** The HealthCheck to create, and the selection of the Rollout; absent if no HealthCheck would work. */
  healthCheck?: HealthCheck;
  notes: TextWithCommands[];
}

/** The health that the bakes of a new Rollout watch. */
export function bakeHealth(
  rollout: NamespacedName,
  { bakeTime }: BakeTimes,
  { applier, healthChecks }: ApplierHealth = { applier: undefined, healthChecks: [] },
): BakeHealth {
  if (bakeTime === undefined) return { notes: waitNotes(applier) };
  const title = objectTitle('Rollout', rollout);
  const none = (why: string) => ({ notes: [{ text: `Bakes of ${title} check no health: ${why}` }] });
  const advice = 'create HealthChecks, and select them by spec.healthCheckSelector (docs/healthchecks.md)';
  if (!applier) return none(advice);
  const { kustomization, unreadable } = applier;
  const healthCheck = newHealthCheck(rollout, identityOf(kustomization).name);
  if (healthChecks.some((each) => each.metadata.name === rollout.name && !isSame(each, healthCheck)))
    return none(
      `HealthCheck ${rollout.name} exists already, with other labels or of another class. Correct it, or ${advice}`,
    );
  if (unreadable?.length) {
    const isWaiting = (kustomization.spec as { wait?: boolean } | undefined)?.wait === true;
    const waits = isWaiting ? '. Flux waits until each version is ready (spec.wait), but nothing watches its bake' : '';
    return none(
      `the hook server isn't allowed to read ${firstFew(unreadable, 3)}, so a HealthCheck would never be Healthy${waits}. For a HealthCheck, ${UNREADABLE_FIX}`,
    );
  }
  if (unreadable) return { healthCheck, notes: [] };
  const text = `Not checked whether the hook server may read each object of ${objectTitle('Kustomization', identityOf(kustomization))}: if HealthCheck ${rollout.name} doesn't become Healthy, its message has the cause`;
  const commands = [['To see it', shell`kubectl -n ${rollout.namespace} get healthcheck ${rollout.name}`] as const];
  return { healthCheck, notes: [{ text, commands }] };
}

/** The note for a Rollout without a bake, if Flux's own health checks are enough. */
function waitNotes(applier: Applier | undefined): TextWithCommands[] {
  const { wait } = (applier?.kustomization.spec ?? {}) as { wait?: boolean };
  if (!applier || !wait) return [];
  const title = objectTitle('Kustomization', identityOf(applier.kustomization));
  return [
    {
      text: `${title} has wait: true, so a version has Succeeded once Flux finds its objects ready: that needs no HealthCheck`,
    },
  ];
}

function newHealthCheck({ namespace, name }: NamespacedName, kustomization: string): HealthCheck {
  const labels = { app: labelValue(name) };
  const annotations = { [HEALTHCHECK_KUSTOMIZATION]: kustomization };
  return newObject('HealthCheck', { name, namespace, labels, annotations }, { class: KUSTOMIZATION_CLASS });
}

/** Whether an existing HealthCheck is the one of an adoption that was interrupted. */
function isSame(existing: HealthCheck, { metadata, spec }: HealthCheck): boolean {
  const { labels, annotations } = existing.metadata;
  return (
    existing.spec?.class === spec?.class &&
    labels?.app === metadata.labels?.app &&
    annotations?.[HEALTHCHECK_KUSTOMIZATION] === metadata.annotations?.[HEALTHCHECK_KUSTOMIZATION]
  );
}
