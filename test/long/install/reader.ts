/** A user who follows docs/install.md: a shell with kubectl and `kubectl rollouts` on its path. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { provideKubectl } from '../../../dev/local/binaries/binaries.ts';
import { REPOSITORY } from '../../../dev/repository.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';
import { stepsOf } from './page.ts';

/** Programs of a reader that the test lacks: their commands are skipped. */
const OTHERS = ['docker', 'flux'];

export async function newReader(kubeconfig: string, registry: string) {
  const folder = temporaryFolder('reader-');
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  symlinkSync(REPOSITORY, join(folder, 'rollout-hooks'));
  const program = (name: string, text: string) => {
    writeFileSync(join(bin, name), `#!/usr/bin/env bash\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  for (const name of OTHERS) program(name, 'exit 0');
  program('kubectl-rollouts', `exec '${process.execPath}' '${join(REPOSITORY, 'cli/main.ts')}' "$@"`);
  const kubectl = await provideKubectl();
  const path = [bin, dirname(kubectl), process.env.PATH].join(':');
  const env = { ...process.env, PATH: path, HOME: folder, KUBECONFIG: kubeconfig, NODE_OPTIONS: '' };
  const run = (command: string) =>
    new Promise<string>((resolve, reject) => {
      const args = ['--norc', '-euo', 'pipefail', '-c', command];
      execFile('bash', args, { cwd: folder, env, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
        const output = `${stdout}${stderr}`;
        if (error) reject(new Error(`${command}\n${output}`));
        else resolve(output);
      });
    });
  return {
    run,
    /** Runs the section's commands. Resolves to the output of each, stdout and stderr; rejects with it if one fails. */
    follow: async (heading: string) => {
      const outputs: string[] = [];
      for (const step of stepsOf(heading, registry)) {
        if ('run' in step) outputs.push(await run(step.run));
        else writeFileSync(join(folder, step.file), step.text, { flag: step.isAdded ? 'a' : 'w' });
      }
      return outputs;
    },
  };
}

export type Reader = Awaited<ReturnType<typeof newReader>>;
