/** Plays the week once, by commands: each task as its person, and looks whether it is done. */
import { spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { Problem } from '../local/process/problem.ts';
import type { Stage } from './stage.ts';
import { NAMESPACE, type Task } from './tasks.ts';

export interface Player {
  namespace: string;
  kubeconfigOf(user: Task['as']): string;
  /** The program that `kubectl rollouts` stands for, as words of a shell; kubectl's own plugin when absent. */
  rollouts?: string;
}

export interface Played {
  task: Task;
  /** What its commands printed. */
  output: string;
  /** From the first command to the last answer; a watch is over when the task is done. */
  seconds: number;
}

const PATIENCE_MS = 60_000;

/** @throws a Problem when a command fails, the answers do not tell what was asked, or the change does not come. */
export async function playTask(task: Task, way: 'kubectl' | 'rollouts', stage: Stage, player: Player): Promise<Played> {
  await stage.prepare(task);
  const question = task.reads?.map((text) => new RegExp(text)) ?? [];
  // A question is about something that has come about: it is asked again until the answer tells it.
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const start = performance.now();
    const output = await typed(task, task.ways[way], stage, player);
    const seconds = (performance.now() - start) / 1000;
    const untold = question.filter((expression) => !expression.test(output));
    if (untold.length === 0) {
      await done(task, stage);
      return { task, output, seconds };
    }
    if (Date.now() > deadline) throw new Problem(`${task.id} by ${way} does not tell ${untold.join(', ')}:\n${output}`);
    await wait(500);
  }
}

async function done(task: Task, stage: Stage): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  for (let missing = await stage.missing(task); missing.length > 0; missing = await stage.missing(task)) {
    if (Date.now() > deadline)
      throw new Problem(`${task.id}: ${missing.join(', ')} did not become what was asked for.`);
    await wait(100);
  }
}

async function typed(task: Task, commands: readonly string[], stage: Stage, player: Player): Promise<string> {
  let output = '';
  for (const command of commands) {
    const isWatch = / -w$/.test(command);
    const ended = isWatch ? done(task, stage) : undefined;
    output += await run(inPlace(command, player), player.kubeconfigOf(task.as), ended);
  }
  return output;
}

function inPlace(command: string, { namespace, rollouts }: Player): string {
  const here = command.replaceAll(new RegExp(`(-n |namespace: )${NAMESPACE}\\b`, 'g'), `$1${namespace}`);
  const now = here.replaceAll('<now>', new Date().toISOString().replace(/\.\d+/, ''));
  return rollouts ? now.replace(/^kubectl rollouts/, rollouts) : now;
}

/** `until`: when to end a command that does not end by itself. */
function run(command: string, kubeconfig: string, until?: Promise<void>): Promise<string> {
  const child = spawn('bash', ['-c', `exec ${command}`], {
    env: { ...process.env, KUBECONFIG: kubeconfig, NO_COLOR: '1', COLUMNS: '120' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const take = (chunk: Buffer) => {
    output += chunk;
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  return new Promise((resolve, reject) => {
    const stop = () => void child.kill('SIGINT');
    until?.then(stop, (error) => {
      stop();
      reject(error);
    });
    child.on('error', reject);
    child.on('close', (code) => {
      // `kubectl auth can-i` answers no with 1.
      if (code === 0 || until || / auth can-i /.test(command)) resolve(output);
      else reject(new Problem(`It ended with ${code}: ${command}\n${output}`));
    });
  });
}
