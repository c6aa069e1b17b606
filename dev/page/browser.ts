/**
 * Chromium from npm: @sparticuz/chromium is a binary for Linux on x86-64, with fonts and a few libraries, unpacked once
 * per version. On other platforms, or for another browser, set CHROMIUM=/path/to/chromium.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { cacheOf, madeOnce } from '../local/binaries/cache.ts';
import { REPOSITORY } from '../repository.ts';

const PACKAGE = join(REPOSITORY, 'node_modules/@sparticuz/chromium');

/** No sandbox, which needs rights that containers and CI lack: only our own page is opened. */
const OPTIONS = {
  args: ['--no-sandbox', '--no-zygote', '--font-render-hinting=none', '--disable-dev-shm-usage'],
  timeout: 120_000,
};

export async function launchBrowser(): Promise<Browser> {
  const given = process.env.CHROMIUM;
  if (given) return chromium.launch({ ...OPTIONS, executablePath: given });
  const folder = await unpacked();
  const env: Record<string, string | undefined> = { ...process.env, FONTCONFIG_FILE: fontsConf(folder) };
  if (lacksLibraries(folder)) env.LD_LIBRARY_PATH = join(folder, 'al2023/lib');
  return chromium.launch({ ...OPTIONS, executablePath: join(folder, 'chromium'), env });
}

/**
 * Writes a fontconfig configuration for the unpacked fonts, the same on every machine, and returns its path. The
 * package's own configuration names /tmp/fonts, and without fonts Chromium draws no text and aborts at the first form
 * control. Written at each start, since the cache may be an earlier version's; with a relative path, since the cache
 * may be mounted at two places; and renamed into place, since another browser may be reading it.
 */
function fontsConf(folder: string): string {
  const file = join(folder, 'fonts.conf');
  const aside = `${file}-${randomUUID()}`;
  writeFileSync(
    aside,
    `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`,
  );
  renameSync(aside, file);
  return file;
}

/** Unpacks Chromium unless the cache has it. Resolves to the folder. */
function unpacked(): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`npm has no Chromium for ${process.platform} on ${process.arch}: set CHROMIUM to the path of one.`);
  }
  const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as { version: string };
  return madeOnce(cacheOf(`chromium-${version}`), 'unpacked', (folder) => {
    mkdirSync(folder);
    // The package unpacks into the temporary directory, and its libraries only if it believes to run in AWS Lambda.
    const env = { ...process.env, TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' };
    const script = "await (await import('@sparticuz/chromium')).default.executablePath()";
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: REPOSITORY, env, stdio: 'pipe' });
  });
}

function lacksLibraries(folder: string): boolean {
  try {
    return execFileSync('ldd', [join(folder, 'chromium')], { encoding: 'utf8' }).includes('not found');
  } catch {
    return true;
  }
}
