/**
 * Reasons of the log for what no Kubernetes Event tells: each with when there is a line. Every Event is a line too, with its own reason.
 * docs/logs.md has the table; a test holds it to this one.
 */
export const LOGGED = {
  Denied: 'admission refused a write: who, what and why, at most once in ten minutes',
  Held: 'an apply behind a closed Gate changes nothing: once for each generation of the object and each closing',
  Suspended: 'a Flux object is suspended by closed Gates: which',
  Opening: 'its Gates are open, and it waits for the next apply of what applies it',
  Released: 'its suspension is lifted',
  Bypassed: 'it runs behind closed Gates, which somebody bypassed',
  Passing: 'it takes one deployment that passes closed Gates',
  Pinned: 'it takes the version of a Rollout: which',
  Requested: 'somebody asks for something on a Rollout: a request annotation, or `spec.wantedVersion`',
  RequestUsed: 'a request has been acted on, and its annotation is taken off',
  HealthTurned: 'the health of a HealthCheck, as it was and as it is',
  ScheduleTurned: 'another rule of a RolloutSchedule holds, or none',
} as const;

export type LoggedReason = keyof typeof LOGGED;
