/**
 * A Chromium that npm brings: @sparticuz/chromium is one binary for Linux on x86-64, with fonts and the few libraries that a bare machine
 * lacks. It is unpacked once for each version. Anywhere else, and where one wants another: CHROMIUM=/path/to/chromium.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { cacheOf, madeOnce } from '../local/binaries/cache.ts';
import { REPOSITORY } from '../repository.ts';

const PACKAGE = join(REPOSITORY, 'node_modules/@sparticuz/chromium');

/** A sandbox takes rights that containers and CI do not give; what is opened here is our own page. */
const ARGS = ['--no-sandbox', '--no-zygote', '--font-render-hinting=none', '--disable-dev-shm-usage'];

/** `own` looks the same on every machine. `system` adds the machine's, if it has any, for the characters that those lack. */
type Fonts = 'own' | 'system';

export async function launchBrowser({ fonts = 'own' }: { fonts?: Fonts } = {}): Promise<Browser> {
  const given = process.env.CHROMIUM;
  if (given) return chromium.launch({ executablePath: given, args: ARGS });
  const folder = await unpacked();
  const env: Record<string, string | undefined> = { ...process.env, FONTCONFIG_FILE: fontsConf(folder, fonts) };
  if (lacksLibraries(folder)) env.LD_LIBRARY_PATH = join(folder, 'al2023/lib');
  return chromium.launch({ executablePath: join(folder, 'chromium'), args: ARGS, env });
}

/**
 * Writes a configuration of fontconfig that names the unpacked fonts, and returns its path. The package's own names /tmp/fonts, and Chromium without any
 * font draws no text and aborts at the first form control. Written at each start: the cache may come from an earlier version. Relative: it may be mounted
 * at two places. Renamed into place: another browser may be reading it.
 */
function fontsConf(folder: string, fonts: Fonts): string {
  const file = join(folder, `fonts-${fonts}.conf`);
  const aside = `${file}-${randomUUID()}`;
  const system = fonts === 'system' ? '<include ignore_missing="yes">/etc/fonts/fonts.conf</include>' : '';
  writeFileSync(
    aside,
    `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>${system}
</fontconfig>
`,
  );
  renameSync(aside, file);
  return file;
}

/** Resolves to the folder. */
function unpacked(): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`npm has no Chromium for ${process.platform} on ${process.arch}: set CHROMIUM to the path of one.`);
  }
  const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as { version: string };
  return madeOnce(cacheOf(`chromium-${version}`), 'unpacked', (folder) => {
    mkdirSync(folder);
    // It unpacks into the temporary directory, and its libraries only where it believes to be in a function of AWS.
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
