import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';

const PROGRAM = `
  const { endRequested } = await import(${JSON.stringify(new URL('../../../../dev/local/process/endRequested.ts', import.meta.url).href)});
  const alive = setInterval(() => {}, 1000);
  const end = endRequested();
  console.log('running');
  await end;
  console.log('ending');
  process.stdin.once('data', () => { clearInterval(alive); console.log('cleaned up'); process.exit(130); });
`;

it('a second Ctrl-C, as npm sends one, does not cut the cleaning up short', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let output = '';
  const said = (text: string) =>
    new Promise<void>((resolve) => child.stdout.on('data', () => output.includes(text) && resolve()));
  child.stdout.on('data', (data) => (output += data));
  await said('running');
  child.kill('SIGINT');
  await said('ending');
  child.kill('SIGINT');
  child.stdin.write('go on\n');
  expect(await exited).toEqual([130, null]);
  expect(output).toContain('cleaned up');
});
