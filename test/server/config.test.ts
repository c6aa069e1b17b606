import { describe, expect, it } from 'vitest';
import { ENVIRONMENT, readConfig } from '../../server/config.ts';
import { ConfigError } from '../../server/environment.ts';

describe('configuration', () => {
  it('reads the settings of --help, and no others', () => {
    const read = new Set<string>();
    const env = { WEBHOOK_TLS_CERT: '/tls.crt', WEBHOOK_TLS_KEY: '/tls.key', RECEIVER_PORT: '9292' };
    const get = (of: Record<string, string>, name: string) => {
      read.add(name);
      return of[name];
    };
    readConfig(new Proxy<Record<string, string>>(env, { get }));
    // The API server's client reads the kubeconfig; every Pod has a HOSTNAME.
    expect([...read, 'KUBECONFIG'].filter((name) => name !== 'HOSTNAME').sort()).toEqual(
      Object.keys(ENVIRONMENT).sort(),
    );
  });

  it('has a default for everything', () => {
    expect(readConfig({})).toMatchObject({
      hooksPort: 8080,
      webhookPort: 8443,
      logLevel: 'info',
      settings: {
        onFailure: 'Continue',
        metacontrollerUser: 'system:serviceaccount:metacontroller:metacontroller',
        bypassServiceAccounts: [],
        noCrossNamespaceRefs: false,
        trustPublishers: false,
        oidcIssuers: [],
      },
    });
  });

  it('an empty variable is as if it were absent', () => {
    const env = { HOOKS_PORT: '', ON_FAILURE: '', LOG_LEVEL: '', TRUST_PUBLISHERS: '', SHUTDOWN_DELAY_SECONDS: '' };
    expect(readConfig(env)).toEqual(readConfig({}));
  });

  it('reads the values', () => {
    const config = readConfig({
      HOOKS_PORT: '1',
      WEBHOOK_TLS_CERT: '/tls.crt',
      WEBHOOK_TLS_KEY: '/tls.key',
      ON_FAILURE: 'Hold',
      BYPASS_SERVICE_ACCOUNTS: 'system:serviceaccount:ops:robot, system:serviceaccount:ops:other',
      EVENTS_ADDR: 'http://notification-controller/',
      RECEIVER_PORT: '9292',
      INPUTS_PORT: '9443',
      HEALTH_PORT: '8081',
      COPY_IMAGE: 'registry.example/rollout-hooks:1',
      TRUST_PUBLISHERS: 'true',
      OIDC_ISSUERS: 'https://gitlab.example, https://issuer.example:8443/realms/ci/',
      LOG_LEVEL: 'warn',
      LOG_LEVEL_FILE: '/etc/level',
    });
    expect(config).toMatchObject({
      hooksPort: 1,
      tls: { cert: '/tls.crt', key: '/tls.key' },
      eventsAddress: 'http://notification-controller/',
      receiverPort: 9292,
      inputsPort: 9443,
      healthPort: 8081,
      logLevel: 'warn',
      logLevelFile: '/etc/level',
      settings: {
        onFailure: 'Hold',
        bypassServiceAccounts: ['system:serviceaccount:ops:robot', 'system:serviceaccount:ops:other'],
        noCrossNamespaceRefs: false,
        trustPublishers: true,
        copyImage: 'registry.example/rollout-hooks:1',
        oidcIssuers: ['https://gitlab.example', 'https://issuer.example:8443/realms/ci/'],
      },
    });
  });

  it.each([
    { env: { HOOKS_PORT: 'http' }, words: 'HOOKS_PORT=http' },
    { env: { WEBHOOK_PORT: '70000' }, words: 'WEBHOOK_PORT=70000' },
    { env: { RECEIVER_PORT: '-1' }, words: 'RECEIVER_PORT=-1' },
    { env: { INPUTS_PORT: '9443', RECEIVER_PORT: '9292' }, words: 'INPUTS_PORT has no effect without' },
    { env: { LOG_LEVEL: 'loud' }, words: 'LOG_LEVEL=loud is not one of silent, error, warn, info, debug, trace' },
    { env: { ON_FAILURE: 'Retry' }, words: 'ON_FAILURE=Retry is not one of Continue, Hold' },
    { env: { WEBHOOK_TLS_CERT: '/tls.crt' }, words: 'WEBHOOK_TLS_CERT and WEBHOOK_TLS_KEY go together' },
    { env: { WEBHOOK_CLIENT_CA: '/ca.crt' }, words: 'WEBHOOK_CLIENT_CA is set, but the webhook is off' },
    { env: { HOOKS_PREVIOUS_TOKEN_FILE: '/previous' }, words: 'HOOKS_PREVIOUS_TOKEN_FILE has no effect without' },
    { env: { WEBHOOK_CLIENT_NAMES: 'kube-apiserver' }, words: 'WEBHOOK_CLIENT_NAMES has no effect without' },
    { env: { SHUTDOWN_DELAY_SECONDS: 'soon' }, words: 'SHUTDOWN_DELAY_SECONDS=soon' },
    { env: { OIDC_ISSUERS: 'http://gitlab.example' }, words: 'OIDC_ISSUERS=http://gitlab.example is not an https URL' },
    { env: { OIDC_ISSUERS: 'https://a.example,b' }, words: 'OIDC_ISSUERS=b is not' },
    { env: { OIDC_ISSUERS: 'https://me@a.example,https://a.example?x' }, words: 'https://me@a.example,https://a.exa' },
    { env: { EVENTS_ADDR: 'notification-controller' }, words: 'EVENTS_ADDR=notification-controller' },
  ])('names what is wrong: $words', ({ env, words }) => {
    expect(() => readConfig(env)).toThrow(ConfigError);
    expect(() => readConfig(env)).toThrow(words);
  });

  it('names every mistake at once', () => {
    const read = () => readConfig({ HOOKS_PORT: 'x', ON_FAILURE: 'y' });
    expect(read).toThrow('HOOKS_PORT=x');
    expect(read).toThrow('ON_FAILURE=y');
  });
});
