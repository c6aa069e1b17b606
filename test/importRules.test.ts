/**
 * The import rules of docs/architecture.md: Biome runs with the project's rules on files that break them. Imports form
 * no cycle.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { cycles, SOURCES } from './support/sources.ts';

const ROOT = join(import.meta.dirname, '..');

const forbidden: [file: string, line: string, rule: string][] = [
  ['api/a.ts', "import type { A } from '../core/kube/time.ts';", 'noRestrictedImports'],
  ['api/b.ts', "import semver from 'semver';", 'noRestrictedImports'],
  ['core/gate/a.ts', "import { readFile } from 'node:fs';", 'noRestrictedImports'],
  ['core/gate/b.ts', "import express from 'express';", 'noRestrictedImports'],
  ['core/gate/c.ts', "import { log } from '../../server/log.ts';", 'noRestrictedImports'],
  ['core/gate/d.ts', "import type { Hook } from '../../hooks/hook.ts';", 'noRestrictedImports'],
  ['core/gate/e.ts', 'export const now = Date.now();', 'noRestrictedGlobals'],
  ['core/gate/f.ts', 'export const now = new Date();', 'plugin'],
  ['core/kube/time.ts', 'export const now = new Date();', 'plugin'],
  ['core/kube/a/time.ts', 'export const at = new Date(0);', 'noRestrictedGlobals'],
  ['core/gate/g.ts', 'export const dice = Math.random();', 'noJsRestrictedProperties'],
  ['core/gate/h.ts', 'export async function wait() {}', 'plugin'],
  ['core/gate/i.ts', 'export const wait = async () => 1;', 'plugin'],
  ['core/gate/j.ts', 'setTimeout(() => {}, 1);', 'noRestrictedGlobals'],
  ['core/gate/k.ts', 'export const bytes = Buffer.from([]);', 'noRestrictedGlobals'],
  ['core/gate/l.ts', 'export const home = process.env;', 'noRestrictedGlobals'],
  ['core/gate/m.ts', "export const page = fetch('x');", 'noRestrictedGlobals'],
  ['core/schedule/n.ts', 'export const now = Temporal.Now.instant();', 'noJsRestrictedProperties'],
  ['hooks/a.ts', "import { log } from '../server/log.ts';", 'noRestrictedImports'],
  ['hooks/b.ts', "import { KubeConfig } from '@kubernetes/client-node';", 'noRestrictedImports'],
  ['hooks/c.ts', "import { up } from '../dev/local/up.ts';", 'noRestrictedImports'],
  ['webhooks/a.ts', "import { readFile } from 'node:fs';", 'noRestrictedImports'],
  ['webhooks/b.ts', "import { log } from '../server/log.ts';", 'noRestrictedImports'],
  ['webhooks/c.ts', "import { HOOKS } from '../hooks/index.ts';", 'noRestrictedImports'],
  ['hooks/flux/d.ts', "import { patchOf } from '../../webhooks/response.ts';", 'noRestrictedImports'],
  ['hooks/flux/i.ts', "import { rolloutHook } from '../rollout/rolloutHook.ts';", 'noRestrictedImports'],
  ['hooks/e.ts', "import { createReceiver } from '../receiver/index.ts';", 'noRestrictedImports'],
  ['receiver/c.ts', "import { HOOKS } from '../hooks/index.ts';", 'noRestrictedImports'],
  ['receiver/a.ts', "import { log } from '../server/log.ts';", 'noRestrictedImports'],
  ['receiver/b.ts', "import { readFile } from 'node:fs';", 'noRestrictedImports'],
  ['hooks/f.ts', "import { copyRelease } from '../copy/copyRelease.ts';", 'noRestrictedImports'],
  ['copy/a.ts', "import { log } from '../server/log.ts';", 'noRestrictedImports'],
  ['audit/a.ts', "import { log } from '../server/log.ts';", 'noRestrictedImports'],
  ['copy/b.ts', "import { readFile } from 'node:fs';", 'noRestrictedImports'],
  ['server/d.ts', "import { copyRelease } from '../copy/copyRelease.ts';", 'noRestrictedImports'],
  ['core/releaseCopy/a.ts', "import { copyRelease } from '../../copy/copyRelease.ts';", 'noRestrictedImports'],
  ['core/receiver/a.ts', "import { createReceiver } from '../../receiver/index.ts';", 'noRestrictedImports'],
  ['server/c.ts', "import { createReceiver } from '../receiver/index.ts';", 'noRestrictedImports'],
  ['server/cluster/b.ts', "import { evaluateGate } from '../../core/gate/gateTimeline.ts';", 'noRestrictedImports'],
  ['server/a.ts', "import { evaluateGate } from '../core/gate/gateTimeline.ts';", 'noRestrictedImports'],
  ['server/b.ts', "import { KubeConfig } from '@kubernetes/client-node';", 'noRestrictedImports'],
  ['server/cluster/a.ts', "import { HOOKS } from '../../hooks/index.ts';", 'noRestrictedImports'],
  ['cli/a.ts', "import { log } from '../server/log.ts';", 'noRestrictedImports'],
  ['cli/commands/b.ts', "import { up } from '../../dev/local/up.ts';", 'noRestrictedImports'],
  ['cli/commands/c.ts', "import { KubeConfig } from '@kubernetes/client-node/dist/config.js';", 'noRestrictedImports'],
  ['tools/kube/b.ts', "import { log } from '../../server/log.ts';", 'noRestrictedImports'],
  ['tools/kube/a.ts', "import { HOOKS } from '../../hooks/index.ts';", 'noRestrictedImports'],
  ['client/explain/a.ts', "import { run } from '../../cli/runCommand.ts';", 'noRestrictedImports'],
  ['client/explain/b.ts', "import { readFile } from 'node:fs';", 'noRestrictedImports'],
  ['client/explain/c.ts', 'export const now = Date.now();', 'noRestrictedGlobals'],
  [
    'core/gate/o.ts',
    "import { explainRollout } from '../../client/explain/rollout/explainRollout.ts';",
    'noRestrictedImports',
  ],
  ['hooks/h.ts', "import { commands } from '../client/actions/lines.ts';", 'noRestrictedImports'],
  ['api/c.ts', "import { run } from '../cli/runCommand.ts';", 'noRestrictedImports'],
  ['hooks/g.ts', "import { run } from '../cli/runCommand.ts';", 'noRestrictedImports'],
  ['ui/a.tsx', "import { answerApi } from '../page/server.ts';", 'noRestrictedImports'],
  ['live/a.ts', "import { hookRoutes } from '../hooks/index.ts';", 'noRestrictedImports'],
  ['core/gate/p.ts', "import { readUpstream } from '../../live/objectReads.ts';", 'noRestrictedImports'],
  ['ui/parts/b.ts', "import { readFile } from 'node:fs';", 'noRestrictedImports'],
  ['cli/commands/d.ts', "import { query } from '../../ui/state/route.ts';", 'noRestrictedImports'],
  ['client/board/a.ts', "import { query } from '../../ui/state/route.ts';", 'noRestrictedImports'],
  ['server/e.ts', "import { run } from '../cli/runCommand.ts';", 'noRestrictedImports'],
  ['page/a.ts', "import { log } from '../server/log.ts';", 'noRestrictedImports'],
  ['page/b.ts', "import { terminal } from '../cli/terminal/terminal.ts';", 'noRestrictedImports'],
  ['page/inCluster/a.ts', "import { terminal } from '../../cli/terminal/terminal.ts';", 'noRestrictedImports'],
  ['page/inCluster/b.ts', "import { KubeConfig } from '@kubernetes/client-node';", 'noRestrictedImports'],
  ['cli/commands/e.ts', "import { readPageConfig } from '../../page/inCluster/config.ts';", 'noRestrictedImports'],
  ['tools/kube/c.ts', "import { createPage } from '../../page/page.ts';", 'noRestrictedImports'],
  ['tools/read/a.ts', "import { run } from '../../cli/runCommand.ts';", 'noRestrictedImports'],
  ['tools/read/b.ts', "import { connectApi } from '../../server/cluster/connection.ts';", 'noRestrictedImports'],
  ['server/g.ts', "import { createClient } from '../tools/kube/kubeClient.ts';", 'noRestrictedImports'],
  ['hooks/j.ts', "import { createClient } from '../tools/kube/kubeClient.ts';", 'noRestrictedImports'],
  ['client/board/c.ts', "import { createClient } from '../../tools/kube/kubeClient.ts';", 'noRestrictedImports'],
  ['ui/c.ts', "import { createClient } from '../tools/kube/kubeClient.ts';", 'noRestrictedImports'],
  ['client/board/b.ts', "import { createPage } from '../../page/page.ts';", 'noRestrictedImports'],
  ['hooks/i.ts', "import { createPage } from '../page/page.ts';", 'noRestrictedImports'],
  ['server/f.ts', "import { createPage } from '../page/page.ts';", 'noRestrictedImports'],
  ['dev/a.ts', "import { waitFor } from '../test/cluster/support/waitFor.ts';", 'noRestrictedImports'],
  ['main.ts', "import { up } from './dev/local/up.ts';", 'noRestrictedImports'],
];

const allowed: [file: string, line: string][] = [
  ['api/ok.ts', "export type { KubeObject } from './kubernetes.ts';"],
  ['core/gate/ok.ts', "export type { Gate } from '../../api/types.ts';"],
  ['core/gate/ok2.ts', "export { formatTime } from '../kube/time.ts';"],
  ['core/rollout/ok.ts', "export { RE2JS } from 're2js';"],
  ['core/schedule/ok.ts', "export { Temporal } from 'temporal-polyfill';"],
  ['core/kube/ok.ts', "export { sha256 } from '@noble/hashes/sha2.js';"],
  ['webhooks/ok.ts', "export { readUpstream } from '../live/objectReads.ts';"],
  ['hooks/ok.ts', "export type { HookCall } from '../api/ports.ts';"],
  ['hooks/ok2.ts', "export { evaluateGate } from '../core/gate/gateTimeline.ts';"],
  ['webhooks/ok.ts', "export { Ajv } from 'ajv';"],
  ['core/gate/ok3.ts', "export { tokenBytes } from '../receiver/token.ts';"],
  ['receiver/ok.ts', "export { decideCall } from '../core/receiver/signedCall.ts';"],
  ['receiver/main.ts', "export { createLog } from '../server/log.ts';"],
  ['copy/ok.ts', "export { contentsOf } from '../core/releaseCopy/manifest.ts';"],
  ['audit/main.ts', "export { createOutbox } from '../server/audit/outbox.ts';"],
  ['copy/main.ts', "export { createSession } from '../server/copy/registrySession.ts';"],
  ['hooks/ok2.ts', "export { tokenBytes } from '../core/receiver/webhookPath.ts';"],
  ['server/ok.ts', "export { formatTime } from '../core/kube/time.ts';"],
  ['server/cluster/ok2.ts', "export { formatTime } from '../../core/kube/time.ts';"],
  ['server/cluster/ok.ts', "export { KubeConfig } from '@kubernetes/client-node';"],
  ['cli/ok.ts', "export { explainRollout } from '../client/explain/rollout/explainRollout.ts';"],
  ['tools/kube/ok2.ts', "export { connectApi } from '../../server/cluster/connection.ts';"],
  ['tools/kube/ok.ts', "export { KubeConfig } from '@kubernetes/client-node/dist/config.js';"],
  ['page/ok.ts', "export { createClient } from '../tools/kube/kubeClient.ts';"],
  ['cli/ok2.ts', "export { createClient } from '../tools/kube/kubeClient.ts';"],
  ['page/ok2.ts', "export { listenHttp } from '../server/http/listen.ts';"],
  ['page/inCluster/ok.ts', "export { createLog } from '../../server/log.ts';"],
  ['cli/commands/ok.ts', "export { openPage } from '../../page/laptop.ts';"],
  ['ui/ok.ts', "export { rightKey } from '../client/actions/action.ts';"],
  ['ui/ok.tsx', "export { render } from 'preact';"],
  ['dev/ok.ts', "export { KubeConfig } from '@kubernetes/client-node';"],
];

const folder = mkdtempSync(join(tmpdir(), 'walls-'));
afterAll(() => rmSync(folder, { recursive: true }));
const problems = lint([...forbidden, ...allowed]);

describe('Biome refuses', () => {
  it.each(forbidden)('%s: %s', (file, _, rule) => {
    expect(problems.get(file)?.join(' ')).toContain(rule);
  });
});

describe('Biome allows', () => {
  it.each(allowed)('%s: %s', (file) => {
    expect(problems.get(file)).toBeUndefined();
  });
});

const SMALL_FILE_LINES = 20;

describe('the folders', () => {
  it('no cycle of files', () => {
    expect(cycles(new Map(SOURCES.map(({ path, files }) => [path, files])))).toEqual([]);
  });

  it('no cycle of folders', () => {
    expect(cycles(importedFolders())).toEqual([]);
  });

  it(`no file of up to ${SMALL_FILE_LINES} lines has one importer`, () => {
    const product = SOURCES.filter(({ path }) => !path.startsWith('test/'));
    const importers = (file: string) => product.filter(({ files }) => files.includes(file)).length;
    const small = product.filter(({ path, lines }) => lines <= SMALL_FILE_LINES && importers(path) === 1);
    expect(small.map(({ path }) => path)).toEqual([]);
  });
});

/**
 * The folders that each folder imports. A route table (index.ts) imports the folders below it, and counts as a folder
 * of its own.
 */
function importedFolders(): Map<string, Set<string>> {
  const folderOf = (path: string) => (basename(path) === 'index.ts' ? path : dirname(path));
  const found = new Map<string, Set<string>>();
  for (const { path, files } of SOURCES) {
    const elsewhere = files.filter((file) => dirname(file) !== dirname(path));
    found.set(folderOf(path), new Set([...(found.get(folderOf(path)) ?? []), ...elsewhere.map(folderOf)]));
  }
  return found;
}

/** Categories of the errors, by file. */
function lint(files: readonly (readonly [file: string, text: string, ...rest: string[]])[]): Map<string, string[]> {
  for (const file of ['biome.json', 'dev/scripts/pure.grit']) cpSync(join(ROOT, file), join(folder, file));
  for (const [file, text] of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), `${text}\n`);
  }
  const found = new Map<string, string[]>();
  for (const { category, location } of report().diagnostics) {
    const path = location.path.replace(/^\.\//, '');
    found.set(path, [...(found.get(path) ?? []), category]);
  }
  return found;
}

function report(): { diagnostics: { category: string; location: { path: string } }[] } {
  const args = [
    'lint',
    '--reporter=json',
    '--diagnostic-level=error',
    '--max-diagnostics=none',
    '--vcs-enabled=false',
    '.',
  ];
  try {
    return JSON.parse(
      execFileSync(join(ROOT, 'node_modules/.bin/biome'), args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' }),
    );
  } catch (error) {
    // Biome exits with an error, as expected.
    return JSON.parse((error as { stdout: string }).stdout);
  }
}
