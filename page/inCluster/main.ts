/** The entry point of the page in a cluster: environment, clock and the page's files enter here. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadKubeConfig } from '../../server/cluster/transport.ts';
import { ConfigError } from '../../server/environment.ts';
import { createLog } from '../../server/log.ts';
import { type Assets, typeOf } from '../assets.ts';
import { PAGE_ENVIRONMENT, readPageConfig } from './config.ts';
import { serveInCluster } from './serve.ts';

const USAGE = `Usage: node page/inCluster/main.ts

Serves the page to a team: readers sign in, and the page reads and writes with the rights of each.
Its settings are environment variables:
${Object.entries(PAGE_ENVIRONMENT)
  .map(([name, text]) => `  ${name.padEnd(28)} ${text}`)
  .join('\n')}
`;

/** The folder of the page's files in the image, which its build has made from ui/. */
const FILES = join(import.meta.dirname, '../files');

async function main(): Promise<void> {
  const config = readPageConfig(process.env);
  const log = createLog(config.logLevel, config.logLevelFile);
  const page = await serveInCluster({ config, kubeConfig: loadKubeConfig(), assets: readFiles(), log });
  log.info({ port: page.port, origin: config.origin }, 'serving the page');
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'shutting down');
    await page.close();
    log.flush();
    process.exit(0);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

function readFiles(): Assets {
  if (!existsSync(FILES)) throw new ConfigError(`${FILES} does not exist: the build of the image makes it`);
  const files = readdirSync(FILES, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map(({ parentPath, name }) => {
      const file = join(parentPath, name);
      return [file.slice(FILES.length), { type: typeOf(name), bytes: readFileSync(file) }];
    }),
  );
}

if (process.argv.includes('--help')) {
  process.stdout.write(USAGE);
} else {
  main().catch((error: Error) => {
    process.stderr.write(`${error instanceof ConfigError ? 'bad configuration: ' : ''}${error.message}\n`);
    process.exit(1);
  });
}
