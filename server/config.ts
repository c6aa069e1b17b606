/** The configuration, read once from the environment. All mistakes are reported together. */
import type { Settings } from '../api/ports.ts';
import { type Environment, environmentReader } from './environment.ts';
import type { SecretFiles } from './fileWatch.ts';

/** Paths of PEM files. */
export interface TlsFiles {
  cert: string;
  key: string;
  /** The CA of the clients' certificates; without it any client may call. */
  clientCa?: string;
}

/** The configuration, from the variables in ENVIRONMENT. */
export type Config = ReturnType<typeof readConfig>;

export const ENVIRONMENT: Record<string, string> = {
  HOOKS_PORT: 'port of the Metacontroller hooks, HTTP (8080)',
  WEBHOOK_PORT: 'port of the admission webhook, HTTPS (8443)',
  RECEIVER_PORT: 'port of the signed calls and of the Flagger webhooks, HTTP (off)',
  INPUTS_PORT:
    'port of the inputs for ResourceSets of Flux Operator, HTTPS with the certificate of the admission webhook (off)',
  HEALTH_PORT: 'port of the probes alone, /healthz and /readyz, HTTP (off)',
  EVENTS_ADDR: "address of Flux's notification-controller (no notifications)",
  HOST: 'address to listen on (all addresses)',
  WEBHOOK_TLS_CERT: 'file with the certificate of the admission webhook, PEM',
  WEBHOOK_TLS_KEY: 'file with its key, PEM',
  WEBHOOK_CLIENT_CA:
    'file with the CA of the client certificates that the webhook requires of the API server, PEM (requires none)',
  WEBHOOK_CLIENT_NAMES: 'names in such a certificate that may call, comma-separated (any)',
  HOOKS_TOKEN_FILE: 'file with the token that the hooks require of Metacontroller (require none)',
  HOOKS_PREVIOUS_TOKEN_FILE: 'file with the previous token, accepted too while the file exists (none)',
  METACONTROLLER_USER: "user name of Metacontroller's requests (system:serviceaccount:metacontroller:metacontroller)",
  COPY_IMAGE: 'image of the Jobs that copy releases: that of rollout-hooks, in your registry (nothing is copied)',
  ALLOW_LOCAL_REGISTRIES:
    'true or false: whether registries may have loopback and link-local addresses, and those of cloud metadata services (false)',
  OIDC_ISSUERS: 'OIDC issuers whose ID tokens Gates may accept, https URLs, comma-separated (none)',
  ON_FAILURE: 'Continue or Hold, for Rollouts without spec.onFailure (Continue)',
  KUBERIK_COMPAT:
    "true or false: whether the Go controller's rules apply to bakes, health, currentVersion and first deployments (false)",
  BYPASS_SERVICE_ACCOUNTS: 'ServiceAccount user names that may bypass Gates, comma-separated (none)',
  SYNC_FIELD_MANAGERS:
    'field managers of Git syncs: a closed Gate reverts their applies and denies other writes; comma-separated (kustomize-controller,helm-controller,flux-operator)',
  DEFAULT_SERVICE_ACCOUNT:
    "ServiceAccount whose rights count for an inventory that names none, as Flux's --default-service-account (none)",
  WATCH_WITHOUT_CONSENT: 'true or false: whether health of other namespaces is watched without their consent (false)',
  NO_CROSS_NAMESPACE_REFS: 'true or false: whether references to other namespaces are refused (false)',
  TRUST_PUBLISHERS:
    'true or false: whether spec.after may compare the revision in the label of an image. Set it only if your pipeline alone pushes images (false)',
  LOG_LEVEL: 'silent, error, warn, info, debug or trace (info)',
  LOG_LEVEL_FILE: 'file with the level, instead of LOG_LEVEL while it exists; read again when it changes (none)',
  SHUTDOWN_DELAY_SECONDS: 'seconds to keep answering after SIGTERM, so that clients and load balancers move on (0)',
  KUBECONFIG: 'kubeconfig file; inside a cluster the ServiceAccount is used',
};

const SYNC_FIELD_MANAGERS = 'kustomize-controller,helm-controller,flux-operator';

/** The configuration. @throws ConfigError that names every wrong variable */
export function readConfig(env: Environment) {
  const { mistakes, number, port, oneOf, flag, logLevel, list, refuseMistakes } = environmentReader(env);
  const optionalPort = (name: string) => (env[name] ? port(name, 0) : undefined);
  const { WEBHOOK_TLS_CERT: cert, WEBHOOK_TLS_KEY: key } = env;
  if (!cert !== !key) mistakes.push('WEBHOOK_TLS_CERT and WEBHOOK_TLS_KEY go together, but only one is set');
  const clientCa = env.WEBHOOK_CLIENT_CA;
  const webhookClients = list('WEBHOOK_CLIENT_NAMES');
  if (clientCa && !cert) mistakes.push('WEBHOOK_CLIENT_CA is set, but the webhook is off: set WEBHOOK_TLS_CERT too');
  if (webhookClients.length > 0 && !clientCa)
    mistakes.push('WEBHOOK_CLIENT_NAMES has no effect without WEBHOOK_CLIENT_CA');
  const { HOOKS_TOKEN_FILE: current, HOOKS_PREVIOUS_TOKEN_FILE: previous } = env;
  if (previous && !current) mistakes.push('HOOKS_PREVIOUS_TOKEN_FILE has no effect without HOOKS_TOKEN_FILE');
  if (env.INPUTS_PORT && !(env.RECEIVER_PORT && cert))
    mistakes.push('INPUTS_PORT has no effect without RECEIVER_PORT and WEBHOOK_TLS_CERT');
  const eventsAddress = env.EVENTS_ADDR || undefined;
  if (eventsAddress && !/^https?:\/\//.test(eventsAddress))
    mistakes.push(`EVENTS_ADDR=${eventsAddress} is not an http(s) URL`);
  const oidcIssuers = list('OIDC_ISSUERS');
  const notIssuers = oidcIssuers.filter((each) => !isIssuer(each));
  if (notIssuers.length > 0)
    mistakes.push(`OIDC_ISSUERS=${notIssuers.join(',')} is not an https URL without user, query and fragment`);
  const settings: Settings = {
    onFailure: oneOf('ON_FAILURE', ['Continue', 'Hold']),
    kuberikCompat: flag('KUBERIK_COMPAT'),
    metacontrollerUser: env.METACONTROLLER_USER || 'system:serviceaccount:metacontroller:metacontroller',
    bypassServiceAccounts: list('BYPASS_SERVICE_ACCOUNTS'),
    syncFieldManagers: list('SYNC_FIELD_MANAGERS', SYNC_FIELD_MANAGERS),
    noCrossNamespaceRefs: flag('NO_CROSS_NAMESPACE_REFS'),
    ...(env.COPY_IMAGE && { copyImage: env.COPY_IMAGE }),
    allowLocalRegistries: flag('ALLOW_LOCAL_REGISTRIES'),
    ...(env.DEFAULT_SERVICE_ACCOUNT && { defaultServiceAccount: env.DEFAULT_SERVICE_ACCOUNT }),
    oidcIssuers,
    authenticatesCallers: Boolean(clientCa),
    watchWithoutConsent: flag('WATCH_WITHOUT_CONSENT'),
    trustPublishers: flag('TRUST_PUBLISHERS'),
  };
  const tls: TlsFiles | undefined = cert && key ? { cert, key, ...(clientCa && { clientCa }) } : undefined;
  const hooksToken: SecretFiles | undefined = current ? { current, ...(previous && { previous }) } : undefined;
  const config = {
    hooksPort: port('HOOKS_PORT', 8080),
    webhookPort: port('WEBHOOK_PORT', 8443),
    receiverPort: optionalPort('RECEIVER_PORT'),
    inputsPort: optionalPort('INPUTS_PORT'),
    healthPort: optionalPort('HEALTH_PORT'),
    eventsAddress,
    /** The name of this replica in notifications. */
    instance: env.HOSTNAME || 'rollout-hooks',
    host: env.HOST || '::',
    /** The webhook's files; without them the webhook is off. */
    tls,
    webhookClients,
    hooksToken,
    logLevel: logLevel(),
    logLevelFile: env.LOG_LEVEL_FILE || undefined,
    shutdownDelaySeconds: number('SHUTDOWN_DELAY_SECONDS', 0, 0, 300),
    settings,
  };
  refuseMistakes();
  return config;
}

function isIssuer(text: string): boolean {
  return URL.parse(text)?.protocol === 'https:' && !/[?#@\s]/.test(text);
}
