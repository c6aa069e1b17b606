/** The commands and files of docs/install.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from '../../../dev/repository.ts';

export type Step = { run: string } | { file: string; text: string; isAdded: boolean };

const BLOCK = /^( *)```(sh|yaml)\n([\s\S]*?)^\1```$/gm;

/**
 * The code blocks of a section, in order: commands, and files whose first line is a comment with their name, or after
 * it, and a comma, what is added to one.
 */
export function stepsOf(heading: string, registry: string): Step[] {
  const page = readFileSync(join(REPOSITORY, 'docs/install.md'), 'utf8');
  const section = page.split(/^##+ /m).find((text) => text.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`docs/install.md has no section "${heading}"`);
  return [...section.matchAll(BLOCK)].map(([, indent = '', language, block = '']) => {
    const text = block.replaceAll(new RegExp(`^${indent}`, 'gm'), '').replaceAll('<your-registry>', registry);
    if (language === 'sh') return { run: text };
    const [, file, isAdded] = /^# (\S+\.yaml)(, .*)?\n/.exec(text) ?? [];
    if (!file)
      throw new Error(`docs/install.md, ${heading}: a block of YAML begins with a comment that names its file`);
    return { file, text, isAdded: isAdded !== undefined };
  });
}
