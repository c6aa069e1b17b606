/* Generated from manifests by dev/scripts/generate-types.ts. Do not edit. */

export const CONTROLLERS: Readonly<Record<string, readonly string[]>> = {
 "compositecontrollers": [
  "clusterrolloutbudgets",
  "clusterrolloutschedules",
  "fluxbindings",
  "gates",
  "rolloutbudgets",
  "rollouts",
  "rolloutschedules"
 ],
 "decoratorcontrollers": [
  "flux-kustomize",
  "flux-source",
  "gate-labels",
  "healthchecks",
  "hold-kustomize",
  "hold-source",
  "rollout-requests",
  "rolloutbudget-slots",
  "rolloutgates"
 ]
};

export const WEBHOOKS: Readonly<Record<string, readonly string[]>> = {
 "mutatingwebhookconfigurations": [
  "flux",
  "flux-metacontroller",
  "flux-unmarked",
  "flux-ungoverned",
  "rollout",
  "rollout-status",
  "rolloutgate",
  "rolloutbudget",
  "gate"
 ],
 "validatingwebhookconfigurations": [
  "flux",
  "rollout",
  "rollout-status",
  "rolloutgate",
  "gate",
  "health-check",
  "schedule"
 ]
};
