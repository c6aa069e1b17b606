/**
 * Checks that no code reads messages: with every stored message reversed, a sync and the explanation are the same, but
 * for texts. Events aren't compared: a new text is a reason to record one.
 */
import { expect } from 'vitest';
import { MARKED_SUCCESSFUL } from '../../../core/rollout/deployment/deploymentMessages.ts';
import { explained } from './explained.ts';
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

/** A cluster that answers each sync twice, with the stored messages as they are and reversed. */
export class TwoReadings extends ScenarioCluster {
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
