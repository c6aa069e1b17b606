/**
 * Checks openings: after a Gate was closed, the applier's apply or a user resumes an object that Git applies. Hooks
 * resume it only if the applier won't apply, or if the object was applied and waited for its artifact. An apply that
 * would change nothing ends with the dry run: only the success of its applier shows it.
 */
import type { AnyObject } from '../client/send.ts';
import type { Write } from './writes.ts';

const STATE = 'gate.fluxcd.io/state';
const SUSPENDED = 'gate.fluxcd.io/suspended';
const APPLIER = 'kustomize.toolkit.fluxcd.io/name';
const APPLIER_NAMESPACE = 'kustomize.toolkit.fluxcd.io/namespace';
export const METACONTROLLER = 'system:serviceaccount:metacontroller:metacontroller';
/** Hooks don't wait longer for an applier that can't apply: docs/gates.md. */
const PATIENCE_MS = 120_000;

export class OpeningChecker {
  private readonly openedMs = new Map<string, number>();
  /** By `namespace/name` of each Kustomization: when its present sync began, and when its last successful one began. */
  private readonly syncs = new Map<string, { beganMs: number; succeededMs?: number }>();

  /** Violations in the next stored version of a Flux object. `writes`: all writes of the object. */
  take(
    key: string,
    { before, object, writer }: { before: AnyObject | undefined; object: AnyObject; writer: Write | undefined },
    seenMs: number,
    writes: readonly Write[],
  ): string[] {
    this.takeSync(before, object, seenMs);
    const state: string = object.metadata.annotations?.[STATE] ?? '';
    const was: string = before?.metadata.annotations?.[STATE] ?? '';
    if (was.startsWith('closed') && !state.startsWith('closed')) this.openedMs.set(key, writer?.receivedMs ?? seenMs);
    const opened = this.openedMs.get(key);
    const isResumed = before?.spec?.suspend === true && object.spec?.suspend !== true;
    if (!isResumed || !/^(closed|opening)/.test(was) || state !== 'open' || opened === undefined) return [];
    const isApplied = hasApplier(object) && before.metadata.annotations?.[SUSPENDED];
    if (!isApplied || writer?.user !== METACONTROLLER || writer.isUngoverned || seenMs - opened >= PATIENCE_MS)
      return [];
    const applies = writes.filter(({ isApply, receivedMs }) => isApply && receivedMs >= opened && receivedMs < seenMs);
    const { metadata } = object;
    const { [APPLIER]: name, [APPLIER_NAMESPACE]: namespace = metadata.namespace } = metadata.labels ?? {};
    const succeeded = this.syncs.get(`${namespace}/${name}`)?.succeededMs ?? Number.NEGATIVE_INFINITY;
    if (applies.length > 0 || succeeded >= opened) return [];
    return [`is resumed ${seenMs - opened} ms after its Gates opened, before Git has applied it`];
  }

  private takeSync(before: AnyObject | undefined, object: AnyObject, seenMs: number): void {
    const [was, is] = [readyOf(before), readyOf(object)];
    if (object.kind !== 'Kustomization' || was === is) return;
    const key = `${object.metadata.namespace}/${object.metadata.name}`;
    const sync = this.syncs.get(key);
    if (is === 'Unknown') this.syncs.set(key, { ...sync, beganMs: seenMs });
    else if (is === 'True' && sync) sync.succeededMs = sync.beganMs;
  }
}

const readyOf = (object: AnyObject | undefined): string | undefined =>
  object?.status?.conditions?.find(({ type }: AnyObject) => type === 'Ready')?.status;

/**
 * Whether a Kustomization has applied the object. A tenant may write any Kustomization into the labels, which then
 * never applies it.
 */
function hasApplier({ metadata: { labels = {}, managedFields = [] } }: AnyObject): boolean {
  const isApplied = managedFields.some(
    ({ manager, operation }) => manager === 'kustomize-controller' && operation === 'Apply',
  );
  return labels[APPLIER] !== undefined && isApplied;
}
