/**
 * Fields that a round trip through Flux's Go types changes in form only. A client that reads a Kustomization and sends
 * it back writes `10m0s` for `10m`, and omits empty fields with `omitempty`.
 * The lists come from the types: an empty field means the same as an absent one only if it is no pointer. `maxHistory`
 * is a pointer, so `maxHistory: 0` differs from no maxHistory. A field in no list is compared as written.
 */
import type { FluxObject } from '../../api/flux.ts';
import { GOVERNED_KINDS, type GovernedKind } from '../../api/kinds.ts';
import { parseDuration } from '../kube/duration.ts';
import { isMap } from '../kube/json.ts';

/** Fields of the type `metav1.Duration`, or a pointer to it. */
export const DURATION_FIELDS: Record<GovernedKind, string> = {
  Kustomization: 'interval retryInterval timeout',
  HelmRelease:
    'interval timeout chart.spec.interval install.timeout install.strategy.retryInterval upgrade.timeout ' +
    'upgrade.strategy.retryInterval test.timeout rollback.timeout uninstall.timeout',
  ImageUpdateAutomation: 'interval',
  GitRepository: 'interval timeout',
  OCIRepository: 'interval timeout',
  HelmRepository: 'interval timeout',
  Bucket: 'interval timeout',
};

/**
 * Fields with `omitempty` that aren't pointers: strings, numbers, booleans, lists and maps; never `suspend`.
 * `[]` stands for each item of a list.
 */
const OMITTED: Record<GovernedKind, string> = {
  Kustomization:
    'dependsOn dependsOn[].namespace path postBuild.substitute postBuild.substituteFrom postBuild.substituteFrom[].optional ' +
    'deletionPolicy healthChecks healthChecks[].apiVersion healthChecks[].namespace namePrefix nameSuffix patches images ' +
    'images[].newName images[].newTag images[].digest serviceAccountName sourceRef.apiVersion sourceRef.namespace ' +
    'targetNamespace force wait components ignoreMissingComponents healthCheckExprs ignore commonMetadata.labels ' +
    'commonMetadata.annotations decryption.serviceAccountName',
  HelmRelease:
    'releaseName targetNamespace storageNamespace dependsOn dependsOn[].namespace serviceAccountName valuesFrom ' +
    'valuesFrom[].valuesKey valuesFrom[].targetPath valuesFrom[].optional postRenderers chartRef.namespace ' +
    'chart.metadata.labels chart.metadata.annotations chart.spec.version chart.spec.reconcileStrategy ' +
    'chart.spec.valuesFiles chart.spec.ignoreMissingValuesFiles chart.spec.sourceRef.namespace driftDetection.mode ' +
    'driftDetection.ignore install.remediation.retries install.disableTakeOwnership install.disableWait ' +
    'install.disableWaitForJobs install.disableHooks install.disableOpenAPIValidation install.disableSchemaValidation ' +
    'install.replace install.skipCRDs install.crds install.createNamespace upgrade.remediation.retries ' +
    'upgrade.disableTakeOwnership upgrade.disableWait upgrade.disableWaitForJobs upgrade.disableHooks ' +
    'upgrade.disableOpenAPIValidation upgrade.disableSchemaValidation upgrade.force upgrade.preserveValues ' +
    'upgrade.cleanupOnFail upgrade.crds test.enable test.ignoreFailures rollback.disableWait ' +
    'rollback.disableWaitForJobs rollback.disableHooks rollback.recreate rollback.force rollback.cleanupOnFail ' +
    'uninstall.disableHooks uninstall.keepHistory uninstall.disableWait',
  ImageUpdateAutomation:
    'sourceRef.namespace update.strategy update.path git.commit.messageTemplate git.commit.messageTemplateValues ' +
    'git.commit.author.name git.push.branch git.push.refspec git.push.options',
  GitRepository:
    'provider serviceAccountName recurseSubmodules include include[].fromPath include[].toPath sparseCheckout ' +
    'ref.branch ref.tag ref.semver ref.name ref.commit verify.mode',
  OCIRepository:
    'provider serviceAccountName insecure ref.digest ref.semver ref.semverFilter ref.tag layerSelector.mediaType ' +
    'layerSelector.operation',
  HelmRepository: 'passCredentials insecure type provider',
  Bucket: 'provider serviceAccountName insecure region prefix',
};

type Same = (a: unknown, b: unknown) => boolean;

const isSameLength: Same = (a, b) => lengthOf(a) !== undefined && lengthOf(a) === lengthOf(b);
/** Compares the one duration that may be absent although it is no pointer; Go then writes `0s`. */
const isSameLengthOrNone: Same = (a = '0s', b = '0s') => isSameLength(a, b);
const areEmpty: Same = (a, b) => isEmpty(a) && isEmpty(b);

const RULES = new Map(
  GOVERNED_KINDS.map(({ kind }) => [
    kind as string,
    [
      ...paths(DURATION_FIELDS[kind], (path) =>
        kind === 'HelmRepository' && path === 'interval' ? isSameLengthOrNone : isSameLength,
      ),
      ...paths(OMITTED[kind], () => areEmpty),
    ],
  ]),
);

/** The object with the stored form of each field whose meaning is unchanged; the same object if no form differs. */
export function withStoredForm(object: FluxObject, old: FluxObject): FluxObject {
  let spec: unknown = object.spec;
  for (const { keys, isSame } of RULES.get(object.kind) ?? []) spec = withStoredValue(spec, old.spec, keys, isSame);
  return spec === object.spec ? object : { ...object, spec: spec as NonNullable<FluxObject['spec']> };
}

function withStoredValue(now: unknown, before: unknown, [key, ...rest]: readonly string[], isSame: Same): unknown {
  if (key === '[]') {
    if (!Array.isArray(now) || !Array.isArray(before) || now.length !== before.length) return now;
    const items = now.map((item, i) => withStoredValue(item, before[i], rest, isSame));
    return items.some((item, i) => item !== now[i]) ? items : now;
  }
  if (key === undefined || !isMap(now) || !isMap(before)) return now;
  const [a, b] = [now[key], before[key]];
  const kept = rest.length === 0 && isSame(a, b) ? b : withStoredValue(a, b, rest, isSame);
  if (kept === a) return now;
  const { [key]: _, ...others } = now;
  return kept === undefined ? others : { ...others, [key]: kept };
}

function paths(text: string, isSameOf: (path: string) => Same) {
  return text.split(' ').map((path) => ({ keys: path.replaceAll('[]', '.[]').split('.'), isSame: isSameOf(path) }));
}

function lengthOf(value: unknown): number | undefined {
  return typeof value === 'string' && value.length <= 100 ? parseDuration(value) : undefined;
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === '' || value === 0 || value === false;
}
