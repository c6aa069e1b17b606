/** docs/working-week.md against the tasks: steps and keystrokes are counted, seconds are of the machine that measured them. */
import { expect, it } from 'vitest';
import { effortOfCommands, effortOfPage } from '../../dev/week/effort.ts';
import { readTasks } from '../../dev/week/tasks.ts';
import { table } from './tables.ts';

it('has the steps and keystrokes of every task', () => {
  const counted = readTasks().map(({ asks, ways }) => {
    const page = ways.page && effortOfPage(ways.page);
    const efforts = [effortOfCommands(ways.kubectl), effortOfCommands(ways.rollouts), page];
    return [asks, ...efforts.map((effort) => (effort ? `${effort.steps} / ${effort.keystrokes}` : '–'))];
  });
  const said = table('week').map((row) => [
    row.task,
    ...[row.kubectl, row['kubectl rollouts'], row['the page']].map((cell) => cell?.replace(/ \/ \d+ s$/, '')),
  ]);
  expect(said).toEqual(counted);
});
