/** dev/scripts/webhook-certificate.sh, with a fake kubectl that stores its input in files. */
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';

const KUBECTL = `#!/usr/bin/env bash
set -euo pipefail
case "$1 $2" in
'get secret') file="$STORE/$3.\${7##*.}"; file="\${file%\\}}"; [ -f "$file" ] && base64 <"$file" ;;
'create secret') cp "$8" "$STORE/$4.crt"; cp "\${10}" "$STORE/$4.key" ;;
'apply --server-side') cat >/dev/null ;;
'get mutatingwebhookconfiguration' | 'get validatingwebhookconfiguration')
  case "$5" in *caBundle*) [ -f "$STORE/bundle" ] && cat "$STORE/bundle" ;; *) echo a b ;; esac ;;
# Flux would take back what is written under kubectl's own name.
'patch mutatingwebhookconfiguration') [ "$8 $9" = '--field-manager rollout-hooks-certificate' ] ;;
'patch validatingwebhookconfiguration') sed 's/.*"value":"\\([^"]*\\)".*/\\1/' <<<"$7" | tr -d '\\n' >"$STORE/bundle" ;;
'rollout restart') ;;
*) echo "kubectl $*" >&2; exit 1 ;;
esac
`;

const store = mkdtempSync(join(tmpdir(), 'webhook-certificate-'));
afterEach(() => rmSync(store, { recursive: true, force: true }));

function run(): { authority: string; certificate: X509Certificate; bundle: string } {
  writeFileSync(join(store, 'kubectl'), KUBECTL);
  chmodSync(join(store, 'kubectl'), 0o755);
  execFileSync('bash', [join(import.meta.dirname, '../../../dev/scripts/webhook-certificate.sh')], {
    env: { ...process.env, PATH: `${store}:${process.env.PATH}`, STORE: store },
    stdio: 'pipe',
  });
  const read = (name: string) => readFileSync(join(store, name), 'utf8');
  return {
    authority: read('rollout-hooks-root.crt'),
    certificate: new X509Certificate(read('rollout-hooks-tls.crt')),
    bundle: Buffer.from(read('bundle'), 'base64').toString(),
  };
}

it('a second run makes another certificate of the same authority, which the API server still trusts', () => {
  const first = run();
  const second = run();
  expect(second.certificate.serialNumber).not.toBe(first.certificate.serialNumber);
  for (const { certificate, authority, bundle } of [first, second]) {
    const root = new X509Certificate(authority);
    expect(certificate.verify(root.publicKey)).toBe(true);
    expect(certificate.checkHost('rollout-hooks.rollout-hooks.svc')).toBeDefined();
    expect(bundle.trim()).toBe(first.authority.trim());
    expect(root.validToDate > certificate.validToDate).toBe(true);
  }
});
