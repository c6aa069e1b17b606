/** A HealthCheck about a Kustomization of another namespace is refused where the installation forbids such references. */
import type { HealthCheck } from '../api/types.ts';
import { KUSTOMIZATION_CLASS, kustomizationRef } from '../core/health/kustomizationCheck.ts';
import { type AdmissionHandler, allowed, denied } from './response.ts';

export const validateHealthCheck: AdmissionHandler = async (request, { settings }) => {
  const healthCheck = request.object as HealthCheck | null | undefined;
  if (!healthCheck || !settings.noCrossNamespaceRefs || healthCheck.spec?.class !== KUSTOMIZATION_CLASS)
    return allowed();
  const isForbidden = (check: HealthCheck) =>
    !('problem' in kustomizationRef(check, false)) && 'problem' in kustomizationRef(check, true);
  const before = request.oldObject as HealthCheck | null | undefined;
  // What was let in before may stay: otherwise nothing else on the object could change, its finalizers included.
  if (!isForbidden(healthCheck) || (before && isForbidden(before))) return allowed();
  const ref = kustomizationRef(healthCheck, true);
  return denied('not_permitted', `HealthCheck '${healthCheck.metadata.name}': ${'problem' in ref ? ref.problem : ''}`);
};
