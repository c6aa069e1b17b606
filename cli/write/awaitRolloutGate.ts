/** `--wait` of what changes a RolloutGate: its Rollout goes by it. */
import type { Rollout, RolloutGate } from '../../api/types.ts';
import type { Progress } from '../../client/explain/rollout/reached.ts';
import { refKey } from '../../core/kube/names.ts';
import type { Context, Invocation } from '../command/command.ts';
import { findRollout } from '../read/gate.ts';
import { EXIT } from '../terminal/exit.ts';
import { timeoutOf, waitFor } from '../view/waitFor.ts';
import type { Made } from './make.ts';

/** `version`: one that was rejected. Answers the exit code. */
export async function awaitRolloutGate(
  context: Context,
  { options }: Pick<Invocation, 'options'>,
  made: Made | undefined,
  version?: string,
): Promise<number> {
  if (!options.wait || !made || made.isDryRun) return EXIT.ok;
  const { client } = await context.cluster();
  const { spec, metadata } = made.object as RolloutGate;
  const ref = { namespace: metadata.namespace ?? '', name: spec?.rolloutRef.name ?? '' };
  if (!(await findRollout(client, ref))) {
    context.terminal.note(`There is no Rollout ${refKey(ref)}: the gate holds nothing.`);
    return EXIT.ok;
  }
  const gate = metadata.name ?? '';
  const passing = spec?.passing ?? true;
  return waitFor(context, { client, namespace: ref.namespace }, ref.name, {
    what: version === undefined ? `RolloutGate ${gate} ${passing ? 'open' : 'closed'}` : `${version} rejected`,
    progress: (_, rollout) => goesBy(rollout, { gate, passing, version }),
    timeoutMs: timeoutOf(options.timeout),
  });
}

function goesBy(
  { status }: Rollout,
  { gate, passing, version }: { gate: string; passing: boolean; version: string | undefined },
): Progress {
  const { gates = [], availableReleases = [], rejectedReleases = [] } = status ?? {};
  const entry = gates.find(({ name, kind }) => name === gate && kind === undefined);
  const isJudged =
    version === undefined
      ? entry !== undefined && (entry.passing ?? true) === passing
      : // A version that was never there is rejected once it is.
        rejectedReleases.some(({ tag }) => tag === version) || !availableReleases.some(({ tag }) => tag === version);
  return isJudged ? 'reached' : 'under way';
}
