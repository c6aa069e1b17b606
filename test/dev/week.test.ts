import { describe, expect, it } from 'vitest';
import { effortOfCommands, effortOfPage } from '../../dev/week/effort.ts';
import { readTasks } from '../../dev/week/tasks.ts';

const tasks = readTasks();

describe('the tasks of a working week', () => {
  it.each(tasks.map((task) => [task.id, task] as const))('%s can be seen to be done, whichever way', (_, task) => {
    expect([...(task.reads ?? []), ...(task.then ?? [])]).not.toEqual([]);
  });

  it.each(tasks.map((task) => [task.id, task] as const))('%s takes less by the command than by kubectl', (_, task) => {
    const [kubectl, rollouts] = [effortOfCommands(task.ways.kubectl), effortOfCommands(task.ways.rollouts)];
    expect(rollouts.steps).toBeLessThan(kubectl.steps);
    expect(rollouts.keystrokes).toBeLessThan(kubectl.keystrokes / 2);
    expect(effortOfPage(task.ways.page).keystrokes).toBeLessThan(rollouts.keystrokes);
  });

  it('to find out why a version does not go out takes one command, or one click', () => {
    const { ways } = tasks.find(({ id }) => id === 'find-out-why')!;
    expect([ways.rollouts.length, ways.page.length]).toEqual([1, 1]);
  });
});

describe('the effort of a way', () => {
  it('counts each key of a command, its Enter, and the time as it is typed', () => {
    expect(effortOfCommands(['ab', 'at=<now>'])).toMatchObject({
      steps: 2,
      keystrokes: 'ab'.length + 'at=$(date -u +%Y-%m-%dT%H:%M:%SZ)'.length + 2,
    });
  });

  it('counts a click as a step without a key', () => {
    expect(effortOfPage([{ click: 'Open' }, { type: { into: 'Reason', text: 'abc' } }])).toMatchObject({
      steps: 2,
      keystrokes: 3,
    });
  });
});
