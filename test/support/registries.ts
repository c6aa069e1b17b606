import { type RealRegistry, startRealRegistry } from '../../dev/local/registry/realRegistry.ts';
import { atEnd } from './atEnd.ts';

/** Two real registries, which end with the test, or outside of tests, the file. */
export async function twoRegistries(): Promise<[source: RealRegistry, target: RealRegistry]> {
  const both = await Promise.all([startRealRegistry(), startRealRegistry()]);
  atEnd(() => Promise.all(both.map((each) => each.stop())));
  return both;
}
