/**
 * Whether openings waited for the applier: after a closing, an object that Git applies is resumed by that apply, or by a person. Hooks resume it only
 * for an applier that will not come, and where it was applied and waited for its artifact.
 */
import type { AnyObject } from '../client/send.ts';
import type { Write } from './writes.ts';

const STATE = 'gate.fluxcd.io/state';
const SUSPENDED = 'gate.fluxcd.io/suspended';
const APPLIER = 'kustomize.toolkit.fluxcd.io/name';
const METACONTROLLER = 'system:serviceaccount:metacontroller:metacontroller';
/** An applier that cannot apply is waited for no longer: docs/gates.md. */
const PATIENCE_MS = 120_000;

export class OpeningJudge {
  private readonly openedMs = new Map<string, number>();

  /** Sentences about the next stored version of a Flux object; `writes` are all of it. */
  take(
    key: string,
    { before, object, writer }: { before: AnyObject | undefined; object: AnyObject; writer: Write | undefined },
    seenMs: number,
    writes: readonly Write[],
  ): string[] {
    const state: string = object.metadata.annotations?.[STATE] ?? '';
    const was: string = before?.metadata.annotations?.[STATE] ?? '';
    if (was.startsWith('closed') && !state.startsWith('closed')) this.openedMs.set(key, writer?.receivedMs ?? seenMs);
    const opened = this.openedMs.get(key);
    const isResumed = before?.spec?.suspend === true && object.spec?.suspend !== true;
    if (!isResumed || !/^(closed|opening)/.test(was) || state !== 'open' || opened === undefined) return [];
    const isApplied = object.metadata.labels?.[APPLIER] !== undefined && before.metadata.annotations?.[SUSPENDED];
    if (!isApplied || writer?.user !== METACONTROLLER || seenMs - opened >= PATIENCE_MS) return [];
    const applies = writes.filter(({ isApply, receivedMs }) => isApply && receivedMs >= opened && receivedMs < seenMs);
    if (applies.length > 0) return [];
    return [`is resumed ${seenMs - opened} ms after its Gates opened, before Git has applied it`];
  }
}
