/** Who gets a slot: in the order of waves, then of asking; and the newest of the versions offered that waves and failures let through. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Slot } from '../../api/types.ts';
import { identityOf, refKey } from '../kube/names.ts';
import { formatTime } from '../kube/time.ts';
import type { Member } from './fleet.ts';
import { revisionOf } from './slots.ts';
import { type ImageVersion, versionKey } from './version.ts';

/** Those that ask this budget and have no slot of it, the first in the queue first. */
export function queueOf(fleet: readonly Member[], slots: readonly Slot[], key: string): Member[] {
  const holders = new Set(slots.map(({ uid }) => uid));
  const place = ({ wave, request, rollout }: Member) =>
    [wave, request?.since ?? '', refKey(identityOf(rollout))] as const;
  return fleet
    .filter(({ uid, request }) => request?.budgets?.includes(key) && !holders.has(uid))
    .sort((a, b) => compare(place(a), place(b)));
}

function compare(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  const index = a.findIndex((value, i) => value !== b[i]);
  return index < 0 ? 0 : a[index]! < b[index]! ? -1 : 1;
}

export function grant(
  queue: readonly Member[],
  room: number,
  openWave: (version: ImageVersion) => number,
  isHeld: (version: ImageVersion) => boolean,
  now: EpochMs,
): Slot[] {
  const open = remembered(openWave);
  const held = remembered(isHeld);
  const granted: Slot[] = [];
  for (const { rollout, uid, image, wave, request } of queue) {
    if (granted.length >= room) break;
    const version = request?.versions
      ?.map((each) => ({ image, ...each }))
      .find((each) => wave <= open(each) && !held(each));
    if (!version || !request) continue;
    const { namespace = '', name = '' } = rollout.metadata;
    granted.push({
      namespace,
      name,
      uid,
      request: request.id,
      version: version.tag,
      ...(version.digest && { digest: version.digest }),
      image,
      rolloutRevision: revisionOf(rollout),
      grantedTime: formatTime(now),
      state: 'Granted',
    });
  }
  return granted;
}

/** Each version is judged once for all who offer it. */
function remembered<T>(judge: (version: ImageVersion) => T): (version: ImageVersion) => T {
  const known = new Map<string, T>();
  return (version) => {
    const key = `${versionKey(version)}@${version.digest ?? ''}`;
    if (!known.has(key)) known.set(key, judge(version));
    return known.get(key)!;
  };
}
