/** The working week of dev/week, by the command as it is packed: every task is done as it is typed there. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { USERS } from '../../dev/local/controlPlane/users.ts';
import { buildCli } from '../../dev/scripts/build-cli.ts';
import { playTask } from '../../dev/week/play.ts';
import { enterStage, type Stage } from '../../dev/week/stage.ts';
import { readTasks } from '../../dev/week/tasks.ts';
import { sharedCluster } from './support/cluster.ts';

const view = sharedCluster();
const namespace = `week-${Date.now().toString(36)}`;
const folder = mkdtempSync(join(tmpdir(), 'week-'));
let stage: Stage;

beforeAll(async () => {
  await buildCli(folder);
  stage = await enterStage((user) => view[user as 'admin' | 'flux'].access, namespace);
});

afterAll(async () => {
  await stage?.leave();
  rmSync(folder, { recursive: true, force: true });
});

describe('a working week by kubectl rollouts', () => {
  // Each task begins where the one before has ended.
  it.each(readTasks().map((task) => [task.id, task] as const))('%s', async (_, task) => {
    const rollouts = `${process.execPath} ${join(folder, 'kubectl-rollouts.js')}`;
    const player = {
      namespace,
      rollouts,
      kubeconfigOf: (user: keyof typeof USERS) => join(view.dir, USERS[user].file),
    };
    const { output } = await playTask(task, 'rollouts', stage, player);
    for (const text of task.reads ?? []) expect(output).toMatch(new RegExp(text));
  });
});
