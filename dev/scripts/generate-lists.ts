/** Writes docs/limits.md and docs/settings.md from their sources. `--check` writes nothing and fails when one is out of date. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { COPY_LIMITS } from '../../core/copy/limits.ts';
import { LIMITS } from '../../core/limits.ts';
import { RECEIVER_LIMITS } from '../../receiver/index.ts';
import { ENVIRONMENT } from '../../server/config.ts';
import { SERVER_LIMITS } from '../../server/http/limits.ts';
import { REPOSITORY } from '../repository.ts';

/** The limits of a file, each with its comment. */
async function limitTable(title: string, file: string, limits: Record<string, number>): Promise<string> {
  const source = await readFile(join(REPOSITORY, file), 'utf8');
  const rows = Object.entries(limits).map(([name, value]) => {
    const comment = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*${name}: `).exec(source)?.[1];
    if (!comment) throw new Error(`${file}: the limit ${name} has no comment`);
    return `| \`${name}\` | ${value.toLocaleString('en-US')} | ${comment.replaceAll(/\s+(?:\* )?/g, ' ').trim()} |`;
  });
  return `## ${title}\n\nFrom \`${file}\`.\n\n| limit | value | what it bounds |\n|---|---|---|\n${rows.join('\n')}`;
}

const LIMITS_PAGE = [
  '# Limits',
  written('the files that it names'),
  'What happens beyond each limit: [security](security.md#limits).',
  await limitTable('One decision', 'core/limits.ts', LIMITS),
  await limitTable('One copy of a release', 'core/copy/limits.ts', COPY_LIMITS),
  await limitTable('One replica', 'server/http/limits.ts', SERVER_LIMITS),
  await limitTable('The receiver of one replica', 'receiver/index.ts', RECEIVER_LIMITS),
];

const SETTINGS_PAGE = [
  '# Settings',
  written('server/config.ts'),
  'Environment variables of the Deployment, with the default in brackets.',
  `| setting | meaning |\n|---|---|\n${Object.entries(ENVIRONMENT)
    .map(([name, meaning]) => `| \`${name}\` | ${meaning} |`)
    .join('\n')}`,
];

function written(source: string): string {
  return `<!-- Written by dev/scripts/generate-lists.ts from ${source}: change that, then run npm run generate. -->`;
}

for (const [page, parts] of [
  ['limits.md', LIMITS_PAGE],
  ['settings.md', SETTINGS_PAGE],
] as const) {
  const file = join(REPOSITORY, 'docs', page);
  const text = `${parts.join('\n\n')}\n`;
  if ((await readFile(file, 'utf8').catch(() => '')) === text) continue;
  if (process.argv.includes('--check')) {
    console.error(`${file} is out of date: run npm run generate`);
    process.exit(1);
  }
  await writeFile(file, text);
}
