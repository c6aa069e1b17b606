import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createTerminal } from '../../cli/terminal/terminal.ts';

class Screen extends Writable {
  readonly isTTY = true;
  readonly columns = 80;
  override _write(_: Buffer, __: string, done: () => void): void {
    done();
  }
}

function asked(typed: (stdin: PassThrough) => void): Promise<string> {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
  const terminal = createTerminal({ stdout: new Screen(), stderr: new Screen(), stdin }, {}, false);
  const answer = terminal.ask('Go on? ');
  setImmediate(() => typed(stdin));
  return answer;
}

describe('a question on a terminal', () => {
  it('is answered by a line', async () => {
    expect(await asked((stdin) => stdin.write('y\r'))).toBe('y');
  });

  it('is answered by nothing at the end of the input', async () => {
    expect(await asked((stdin) => stdin.end())).toBe('');
  });

  it('ends with 130 on Ctrl-C', async () => {
    await expect(asked((stdin) => stdin.write('\x03'))).rejects.toMatchObject({ exitCode: 130 });
  });
});
