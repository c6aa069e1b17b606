/** The working week of dev/week on the page: every task is done by what is clicked and typed there. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { enterStage, type Stage } from '../../../dev/week/stage.ts';
import { NAMESPACE, type PageStep, readTasks, type Task } from '../../../dev/week/tasks.ts';
import { type Visitor, visitorOf } from '../support/browser.ts';
import { sharedCluster, waitFor } from '../support/cluster.ts';

const view = sharedCluster();
const namespace = `page-week-${Date.now().toString(36)}`;
const visitors = new Map<Task['as'], Visitor>();
let stage: Stage;

beforeAll(async () => {
  stage = await enterStage((user) => view[user as 'admin' | 'flux'].access, namespace);
  for (const user of ['developer', 'sre'] as const) visitors.set(user, await visitorOf(view.dir, user, namespace));
});

afterEach(() => Promise.all([...visitors.values()].map((visitor) => visitor.leave())));
afterAll(async () => {
  await Promise.all([...visitors.values()].map((visitor) => visitor.close()));
  await stage?.leave();
});

const here = (text: string) => text.replace(new RegExp(`\\b${NAMESPACE}\\b`), namespace);

/** Answers the tab that the step leaves. */
async function doStep(visitor: Visitor, tab: Page | undefined, step: PageStep): Promise<Page> {
  if ('open' in step) return visitor.tab(`/${here(step.open)}`);
  if (!tab) throw new Error('The first step of a way opens a place.');
  const dialog = tab.getByRole('dialog');
  const scope = (await dialog.count()) > 0 ? dialog : tab;
  if ('click' in step)
    await scope
      .getByRole('button', { name: here(step.click), exact: true })
      .first()
      .click();
  else if ('key' in step) await tab.keyboard.press(step.key);
  else await scope.getByLabel(step.type.into, { exact: true }).fill(step.type.text);
  return tab;
}

async function play(task: Task): Promise<void> {
  const visitor = visitors.get(task.as)!;
  const steps = task.ways.page;
  let tab: Page | undefined;
  for (const step of steps) {
    tab = await doStep(visitor, tab, step);
    const isAsked = 'click' in step && (await tab.getByRole('dialog').count()) > 0;
    // The answer to a request is there before the next place is opened.
    if (isAsked && step === lastClickBeforeOpen(steps, step)) {
      await tab.getByRole('button', { name: 'Done', exact: true }).waitFor();
    }
  }
  const told = (task.reads ?? []).map((text) => new RegExp(text));
  await waitFor(async () => {
    const text = (await tab?.locator('main').textContent()) ?? '';
    for (const expression of told) expect(text).toMatch(expression);
    return true;
  }, `${task.id} to be answered`);
  await waitFor(async () => {
    expect(await stage.missing(task)).toEqual([]);
    return true;
  }, `${task.id} to be done`);
}

function lastClickBeforeOpen(steps: readonly PageStep[], of: PageStep): PageStep | undefined {
  const index = steps.indexOf(of);
  const next = steps[index + 1];
  return next === undefined || 'open' in next ? of : undefined;
}

describe('a working week on the page', () => {
  // Each task begins where the one before has ended.
  it.each(readTasks().map((task) => [task.id, task] as const))('%s', async (_, task) => {
    await stage.prepare(task);
    await play(task);
  });
});
