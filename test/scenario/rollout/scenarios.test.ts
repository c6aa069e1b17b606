/** Runs the scenarios of this folder by play.ts, with messages that no code may read. */
import { describe, expect, it } from 'vitest';
import { FILES, play, readScenarios, titled } from './play.ts';
import { TwoReadings } from './writeOnlyTexts.ts';

for (const file of FILES) {
  describe(file, () => {
    const kuberikCompat = file.startsWith('original-');
    it.each(titled(readScenarios(file)))('%s', (_, scenario) => play(scenario, 'Hold', kuberikCompat, TwoReadings));
  });
}

/** A newer version waits after a failed one. */
const NEED_HOLD = ['R77'];
/**
 * Scenarios in which time alone ends a bake or makes health new, a first deployment ignores RolloutGates, a deployment
 * without bake settings ends at once, and a moved tag changes nothing.
 */
const NEED_KUBERIK_COMPAT = [
  'R21',
  'R41',
  'R54',
  'R65',
  'R79',
  'R119',
  'RM13',
  'recovery-bake',
  'like-kuberik-late',
  'like-kuberik-text',
  'like-kuberik-moved-tag',
];
const DIFFER = [...NEED_HOLD, ...NEED_KUBERIK_COMPAT];

describe('the cases of the Go controller, as an installation has it by default', () => {
  const originals = FILES.filter((name) => name.startsWith('original-')).flatMap(readScenarios);
  const others = originals.filter(({ id = '' }) => !DIFFER.includes(id));
  it.each(titled(others))('%s', (_, scenario) => play(scenario, 'Continue'));
  it.each(DIFFER)('%s differs, as docs/compatibility.md describes', async (id) => {
    await expect(play(originals.find((each) => each.id === id)!, 'Continue')).rejects.toThrow('step');
  });
});
