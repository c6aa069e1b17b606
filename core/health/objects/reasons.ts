/**
 * What a reason of Flux's Ready=False says of the revision that it is about. Flux tries all of them again; these have shown that the version does
 * not work, the others (DependencyNotReady, ArtifactFailed, PruneFailed and what comes to be) only that it is not applied yet.
 * Source: the reasons in the APIs of kustomize-controller (v1) and helm-controller (v2).
 */

/** Reasons of kustomize-controller. HealthCheckFailed is Flux's own verdict, with healthCheckExprs where there are any. */
export const FAILED_KUSTOMIZATION: ReadonlySet<string> = new Set([
  'BuildFailed',
  'ReconciliationFailed',
  'HealthCheckFailed',
]);

/** Reasons of helm-controller. */
export const FAILED_HELM_RELEASE: ReadonlySet<string> = new Set([
  'InstallFailed',
  'UpgradeFailed',
  'TestFailed',
  'RollbackFailed',
  'UninstallFailed',
]);
