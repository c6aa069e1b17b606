/** A redrawn screen replaces the one before, whatever was written in between. */
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { openScreen } from '../../cli/terminal/screen.ts';
import { styleOf } from '../../cli/terminal/style.ts';
import { createTerminal } from '../../cli/terminal/terminal.ts';
import { applicationTrees } from '../../cli/terminal/tree.ts';
import type { Application } from '../../client/explain/application.ts';

/** The lines that a terminal of this width shows after the output. A screen only uses lines up and clear-below. */
function shown(text: string, columns: number): string[] {
  let rows: string[] = [''];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones
  for (const part of text.split(/(\x1b\[\d*A|\r|\x1b\[0J|\x1b\[\?25[hl]|\n)/)) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this is the one
    const up = /^\x1b\[(\d*)A$/.exec(part);
    if (up)
      rows = rows
        .slice(0, Math.max(rows.length - Number(up[1] || 1), 1))
        .map((row, i, all) => (i === all.length - 1 ? '' : row));
    else if (part === '\n') rows.push('');
    else if (part.startsWith('\x1b') || part === '\r') continue;
    else
      for (let at = 0; at < part.length; at += columns) {
        if (at > 0) rows.push('');
        rows[rows.length - 1] = part.slice(at, at + columns);
      }
  }
  return rows.slice(0, -1);
}

function terminalOf(size: { columns: number }) {
  let written = '';
  const stream = () => {
    const out = new PassThrough();
    out.on('data', (chunk) => {
      written += chunk;
    });
    return Object.assign(out, { isTTY: true, rows: 40, columns: size.columns });
  };
  const terminal = createTerminal({ stdout: stream(), stderr: stream(), stdin: new PassThrough() }, {}, false);
  const screen = openScreen(terminal, () => ({ rows: 40, columns: size.columns }));
  return { terminal, screen, lines: () => shown(written, size.columns) };
}

describe('drawn again', () => {
  it('takes the place of the picture before', () => {
    const { screen, lines } = terminalOf({ columns: 80 });
    screen.draw(['app', '├─ Gate freeze']);
    screen.draw(['app', '├─ Gate freeze', '└─ Bake']);
    expect(lines()).toEqual(['app', '├─ Gate freeze', '└─ Bake']);
  });

  it('replaces the old screen below text written in between, without a remainder', () => {
    const { terminal, screen, lines } = terminalOf({ columns: 80 });
    screen.draw(['app', '├─ Gate freeze']);
    terminal.note('Warning: the token expires');
    terminal.print('another line');
    screen.draw(['app', '└─ Bake']);
    screen.close();
    terminal.note('Stopped.');
    expect(lines()).toEqual(['Warning: the token expires', 'another line', 'app', '└─ Bake', 'Stopped.']);
  });

  it('in a terminal that has become narrower, in which the old one takes more rows', () => {
    const size = { columns: 20 };
    const { screen, lines } = terminalOf(size);
    screen.draw(['0123456789abcde']);
    size.columns = 10;
    screen.draw(['new']);
    expect(lines()).toEqual(['new']);
  });
});

it('has first the Rollouts that need a user, if not all fit', () => {
  const { terminal } = terminalOf({ columns: 80 });
  const style = styleOf({ terminal, now: () => 0, timeZone: 'UTC' });
  const apps = (['done', 'waits', 'done', 'problem'] as const).map(
    (state, index) => ({ name: `app-${index}`, state, steps: [], causes: [], unread: [] }) as unknown as Application,
  );
  const names = (rows: number) =>
    applicationTrees(apps, style, { isQualified: false, rows })
      .join(' ')
      .match(/app-\d/g);
  expect(names(20)).toEqual(['app-0', 'app-1', 'app-2', 'app-3']);
  expect(names(4)).toEqual(['app-3', 'app-1', 'app-0']);
});
