import { deathProblem, type RunningChild } from './childProcess.ts';
import type { Problem } from './problem.ts';

export interface Children {
  /** By name. */
  running: Map<string, RunningChild>;
  /** Resolves when one of them ends by itself. */
  died: Promise<Problem>;
  watch(child: RunningChild): RunningChild;
}

export function superviseChildren(): Children {
  const running = new Map<string, RunningChild>();
  const { promise: died, resolve: report } = Promise.withResolvers<Problem>();
  const watch = (child: RunningChild): RunningChild => {
    running.set(child.name, child);
    void child.exited.then((exit) => {
      if (running.get(child.name) === child) running.delete(child.name);
      if (!exit.asked) report(deathProblem(child.name, exit, child.logFile, child.output()));
    });
    return child;
  };
  return { running, died, watch };
}
