/**
 * Messages are write-only: before each sync of each scenario every text for people that is stored is reversed, and
 * neither what the Rollout does nor what is explained of it may change by that, but for texts. Events are not compared:
 * a new text is a reason to record one.
 */
import { describe, expect, it } from 'vitest';
import { MARKED_SUCCESSFUL } from '../../../core/rollout/deployment/deploymentMessages.ts';
import { explained } from './explained.ts';
import { FILES, play, readScenarios, titled } from './play.ts';
import { ScenarioCluster } from './scenarioCluster.ts';

const TEXTS = ['message', 'bakeStatusMessage'];
/** Fields in which an explanation quotes texts of the status. */
const QUOTES = [...TEXTS, 'text', 'detail'];

/** For the Go controller's dashboard, only this text shows that a user has marked a deployment successful. */
const isWireText = (text: string) => text.startsWith(MARKED_SUCCESSFUL);
const reversed = (text: string) => (isWireText(text) ? text : [...text].reverse().join(''));

/** A copy with other texts under these keys, or without them if undefined. */
function withTexts(value: unknown, keys: readonly string[], by: (text: string) => string | undefined): any {
  if (Array.isArray(value)) return value.map((each) => withTexts(each, keys, by));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, below]) => [
      key,
      keys.includes(key) && typeof below === 'string' ? by(below) : withTexts(below, keys, by),
    ]),
  );
}

class TwoReadings extends ScenarioCluster {
  override async sync(): Promise<boolean> {
    const asStored = await this.readings();
    const stored = [...this.objects];
    for (const [key, object] of stored) {
      this.objects.set(key, { ...object, status: withTexts(object.status, TEXTS, reversed) });
    }
    const backwards = await this.readings();
    for (const [key, object] of stored) this.objects.set(key, object);
    expect(backwards).toEqual(asStored);
    return super.sync();
  }

  /** Answer and explanation, without texts and the number of the write. */
  private async readings() {
    const { revision: _, ...status } = await this.answer(structuredClone(this.rollout));
    const { next, ...app } = explained(this);
    const { resync, configMaps } = this;
    return {
      ...withTexts({ status, app, configMaps, resync }, QUOTES, () => undefined),
      // Made of titles and versions.
      next,
    };
  }
}

for (const file of FILES) {
  describe(file, () => {
    const kuberikCompat = file.startsWith('original-');
    it.each(titled(readScenarios(file)))('%s %s', (_id, _title, scenario) =>
      play(scenario, 'Hold', kuberikCompat, TwoReadings),
    );
  });
}
