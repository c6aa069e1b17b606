/** Checks that webhooks are registered, fail closed and are reached, and that no certificate expires soon. */
import { X509Certificate } from 'node:crypto';
import { WEBHOOKS } from '../../api/generated/installed.ts';
import { GATES } from '../../api/kinds.ts';
import type { AnyObject } from '../../api/kubernetes.ts';
import { isApiError } from '../../connection/kube/kubeClient.ts';
import { DAY_MS, formatTime } from '../../core/kube/time.ts';
import { checkOf, type Found, findingsOrFine, fine, notChecked, problem, problemIf } from './finding.ts';

const CERTIFICATES = 'Certificates';
const NAME_SUFFIX = '.admission.kuberik.com';
const WARN_DAYS_BEFORE_EXPIRY = 14;
const CERTIFICATE_FIX =
  "docs/install.md, The webhook's certificate: dev/scripts/webhook-certificate.sh, or cert-manager";

/** The webhooks that fail open: they take writes of any Flux object, and a decorator holds what they missed. */
const FAILS_OPEN = /^flux-(unmarked|ungoverned)\./;

type Webhook = { name: string; failurePolicy?: string; clientConfig?: { caBundle?: string } };
type Configuration = AnyObject & { webhooks?: Webhook[] };

export const checkWebhooks = checkOf('Webhooks', async ({ list, unread, now }) => {
  const findings: Found[] = [];
  const bundles = new Map<string, string>();
  for (const [resource, names] of Object.entries(WEBHOOKS)) {
    const found = await list<Configuration>({ apiVersion: 'admissionregistration.k8s.io/v1', resource });
    if (!found) continue;
    const ours = found.flatMap(({ webhooks = [] }) => webhooks.filter(({ name }) => name.endsWith(NAME_SUFFIX)));
    const registered = new Set(ours.map(({ name }) => name.slice(0, -NAME_SUFFIX.length)));
    const missing = names.filter((name) => !registered.has(name)).join(', ');
    const ignoring = ours.filter(({ name, failurePolicy }) => failurePolicy === 'Ignore' && !FAILS_OPEN.test(name));
    const failing = ours.filter(({ name, failurePolicy }) => failurePolicy === 'Fail' && FAILS_OPEN.test(name));
    const kind = resource.startsWith('mutating') ? 'mutating' : 'validating';
    const unregistered = `The ${kind} webhooks ${missing} are not registered: their objects are not protected`;
    const open = `${ignoring.length} of ${ours.length} ${kind} webhooks have failurePolicy Ignore: while the server is down, no Gate holds anything`;
    const apply = `kubectl apply --server-side -f manifests/webhooks/${kind}.yaml`;
    const blocking = `The webhooks ${failing.map(({ name }) => name).join(', ')} have failurePolicy Fail: while the server is down, writes of Flux objects without our annotations are rejected`;
    const failAgain = 'set failurePolicy to Fail again: docs/install.md, "The webhook cannot be reached"';
    findings.push(
      ...problemIf(missing !== '', unregistered, `apply them again, then see ${CERTIFICATE_FIX}`, apply),
      ...problemIf(failing.length > 0, blocking, 'set it to Ignore: apply them again', apply),
      ...problemIf(ignoring.length > 0, open, failAgain),
    );
    for (const { name, clientConfig } of ours) bundles.set(clientConfig?.caBundle ?? '', name);
  }
  return [
    ...(unread.size > 0 ? findings : findingsOrFine(findings, 'registered, and fail closed')),
    ...authorityFindings(bundles, now()).map((each) => ({ about: CERTIFICATES, ...each })),
  ];
});

/** Findings about the certificate authorities of the webhooks. `bundles`: a webhook for each caBundle. */
function authorityFindings(bundles: ReadonlyMap<string, string>, now: number): Found[] {
  const ends: number[] = [];
  const problems = [...bundles].flatMap(([bundle, webhook]) => {
    const found = (text: string) => [problem(text, CERTIFICATE_FIX)];
    if (bundle === '') return found(`${webhook} has no caBundle: the API server refuses every write that it guards`);
    try {
      const text = Buffer.from(bundle, 'base64').toString();
      const certificates = text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
      // If there are several, the one that expires last counts.
      const end = Math.max(...certificates.map((each) => Date.parse(new X509Certificate(each).validTo)));
      ends.push(end);
      if (end - now >= WARN_DAYS_BEFORE_EXPIRY * DAY_MS) return [];
      const expires = end <= now ? 'has expired' : 'expires';
      return found(`The certificate authority of ${webhook} ${expires} at ${formatTime(end)}`);
    } catch {
      return found(`The caBundle of ${webhook} is not a certificate`);
    }
  });
  if (problems.length > 0 || ends.length === 0) return problems;
  return [fine(`the webhooks' CA certificate expires at ${formatTime(Math.min(...ends))}`)];
}

/** Checks the end of the server's certificate, in its Secret. */
export const checkServingCertificate = checkOf(
  CERTIFICATES,
  async ({ client, now }) => {
    const place = { apiVersion: 'v1', resource: 'secrets', namespace: 'rollout-hooks' };
    const secret = await client.get<any>({ ...place, name: 'rollout-hooks-tls' });
    const text: string | undefined = secret?.data?.['tls.crt'];
    if (!text) return [];
    const end = Date.parse(new X509Certificate(Buffer.from(text, 'base64')).validTo);
    if (end - now() > WARN_DAYS_BEFORE_EXPIRY * DAY_MS)
      return [fine(`the server's certificate expires at ${formatTime(end)}`)];
    const expires = `${end <= now() ? 'has expired' : 'expires'} at ${formatTime(end)}`;
    const what = `The server's certificate ${expires}. From then on the API server rejects every write of a Rollout or Gate`;
    const fix = 'run dev/scripts/webhook-certificate.sh, or look at cert-manager';
    return [problem(what, fix, 'kubectl -n rollout-hooks describe certificate')];
  },
  "the server's own: you aren't allowed to read Secret rollout-hooks/rollout-hooks-tls",
);

/** A Gate that only the webhook refuses: its CRD accepts any name of a time zone. */
const INVALID_GATE = {
  apiVersion: GATES.apiVersion,
  kind: 'Gate',
  metadata: { generateName: 'doctor-' },
  spec: { default: 'closed', schedule: { timezone: 'Nowhere/Nothing', rules: [{ daysOfWeek: ['Friday'] }] } },
};

/** Checks that the API server calls the webhook, by a dry run that the webhook has to refuse. */
export const checkAdmission = checkOf('Admission', async ({ client, home }) => {
  const found = (text: string) => {
    const fix = 'look at the Pods and the Service: docs/install.md, Troubleshooting';
    return [problem(text, fix, 'kubectl -n rollout-hooks get pods,endpointslices')];
  };
  try {
    const gate = { ...INVALID_GATE, metadata: { ...INVALID_GATE.metadata, namespace: home } };
    await client.create({ ...GATES, namespace: home }, gate, { dryRun: true });
    return found('A Gate with a time zone that does not exist is accepted: the API server does not call the webhook');
  } catch (error) {
    if (!isApiError(error)) throw error;
    const { code, message } = error;
    if (message.includes('Nowhere/Nothing'))
      return [fine('the API server calls the webhook, which denied a dry run as expected')];
    if (message.includes('x509'))
      return [problem(`The API server rejects the certificate: ${message}`, CERTIFICATE_FIX)];
    if (message.includes('failed calling webhook')) return found(`The API server can't reach the webhook: ${message}`);
    const mayNot = `you aren't allowed to create Gates in ${home}, so no dry run could check whether the webhook is reached`;
    if (code === 403) return [notChecked(mayNot)];
    return code === 404 ? [] : found(`A dry run of a Gate failed unexpectedly: ${message}`);
  }
});
