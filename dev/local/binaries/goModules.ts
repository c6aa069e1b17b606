/**
 * Go modules of other projects, pinned: the tests run their programs, and install their CRDs. Each program is built
 * from its own go.mod and go.sum, as its maintainers build it.
 */
export interface GoModule {
  path: string;
  version: string;
  /** Go's checksum of the module. Its go.sum has those of its dependencies. */
  sum: string;
  /**
   * Other modules of its repository, of the same version, which its go.mod expects in these folders: their checksums.
   */
  nested?: Readonly<Record<string, string>>;
  /** A dependency in another version, because the module proxy lacks the one of go.mod: its lines for go.sum. */
  replacement?: { path: string; version: string; sums: readonly [module: string, goMod: string] };
  /** A generated file that a program embeds and the module lacks: an empty file replaces it. */
  embedded?: string;
}

const GO_MODULES = {
  'kustomize-controller': {
    path: 'github.com/fluxcd/kustomize-controller',
    version: 'v1.9.6',
    sum: 'h1:XB+G3A0mky0j5uVHZWv4oSlS2RvZBoNIUhstIvY0JKE=',
    nested: { api: 'h1:7XiuW+l3YYXWeIwLJ8w34zHlJyMUEKosBIxLIki9J3I=' },
  },
  'source-controller': {
    path: 'github.com/fluxcd/source-controller',
    version: 'v1.9.6',
    sum: 'h1:nG534/bI6nVpyHra7ONAk6xDB3xPsVT+EOLHZHXPrrc=',
    nested: { api: 'h1:h9+CsJVw4CNbMEsnEb11SGEhLfKzVTkWC0w7M8VX4Hk=' },
    replacement: {
      path: 'github.com/fluxcd/pkg/artifact',
      version: 'v0.18.1',
      sums: ['h1:YSaEWpEKgtcvUCBx9R71VknpPUzss7hWuvzdG0wjxr8=', 'h1:JzPXOu/OQsPR3Wvh6ki249ENPD2CAorQXxEQ3bEiIT4='],
    },
  },
  'helm-controller': {
    path: 'github.com/fluxcd/helm-controller',
    version: 'v1.6.4',
    sum: 'h1:u/Ew7LehrwDQaE/NqWdaB3XnNDCxRGDcp1FZl7RKj4g=',
    nested: { api: 'h1:jDgB87F6RRNF0QEZDAw+8+HPU13toF5IZpPsytA0Nuo=' },
  },
  'notification-controller': {
    path: 'github.com/fluxcd/notification-controller',
    version: 'v1.9.3',
    sum: 'h1:vBONN/Lx5aQ2nDnJxYp5Sb0Wsgh13UbuP5A1MK4dmkY=',
    nested: { api: 'h1:RgpaVPpjICdc9aAAQ6By/Z4uXghm8yDaVy5KuIO5igg=' },
  },
  // The newest that Go 1.26 builds.
  'flux-operator': {
    path: 'github.com/controlplaneio-fluxcd/flux-operator',
    version: 'v0.58.0',
    sum: 'h1:7fbGeGRzp7sEwfg7jjc3a3bJvMYTAgPv+hl5qf9SBxo=',
    replacement: {
      path: 'github.com/google/go-containerregistry/pkg/authn/kubernetes',
      version: 'v0.0.0-20250225234217-098045d5e61f',
      sums: ['h1:GJRzEBoJv/A/E7JbTekq1Q0jFtAfY7TIxUFAK89Mmic=', 'h1:ZT74/OE6eosKneM9/LQItNxIMBV6CI5S46EXAnvkTBI='],
    },
    embedded: 'web/dist/index.html',
  },
  prometheus: {
    path: 'github.com/prometheus/prometheus',
    version: 'v0.309.1',
    sum: 'h1:jutK6eCYDpWdPTUbVbkcQsNCMO9CCkSwjQRMLds4jSo=',
  },
  'kube-state-metrics': {
    path: 'k8s.io/kube-state-metrics/v2',
    version: 'v2.19.1',
    sum: 'h1:WScqb3jYHZOTYwMvmrVWhTljBZk6m7S5ArxAakgvNts=',
  },
  registry: {
    path: 'github.com/distribution/distribution/v3',
    version: 'v3.0.0',
    sum: 'h1:q4R8wemdRQDClzoNNStftB2ZAfqOiN6UX90KJc4HjyM=',
  },
  'cert-manager': {
    path: 'github.com/cert-manager/cert-manager',
    version: 'v1.19.2',
    sum: 'h1:jSprN1h5pgNDSl7HClAmIzXuTxic/5FXJ32kbQHqjlM=',
  },
  'prometheus-operator': {
    path: 'github.com/prometheus-operator/prometheus-operator',
    version: 'v0.85.0',
    sum: 'h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=',
  },
} as const satisfies Record<string, GoModule>;

export type GoModuleName = keyof typeof GO_MODULES;

export function goModule(name: GoModuleName): GoModule {
  return GO_MODULES[name];
}
