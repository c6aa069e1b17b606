/**
 * Reasons in the log of decisions without an Event, each with the cause of its line. Every Event is a line too, with
 * its own reason. docs/reference/log.md is generated from this.
 */
export const LOGGED = {
  Denied: 'admission rejects a write: who, what and why, at most once in ten minutes',
  Reverted: 'an apply behind a closed Gate changes nothing: once for each generation of the object and each closure',
  Suspended: 'a Flux object is suspended by closed Gates: which',
  Opening: 'the Gates of a suspended object are open; it waits for the next apply of its applier',
  Resumed: 'an object is no longer suspended by Gates',
  BypassAllowed:
    'admission allows a write that bypasses closed Gates: who, which, why. Once the write is stored, `GateBypassed` follows',
  Bypassed: 'an object runs although its Gates are closed, after a bypass',
  Bypassing: 'an object takes one deployment that bypasses closed Gates',
  VersionSet: 'an object takes the version of a Rollout: which',
  Requested: 'a user requests something of a Rollout: a request annotation, or `spec.wantedVersion`',
  RequestUsed: 'a request took effect, and its annotation is removed',
  HealthChanged: 'the health of a HealthCheck changes: before and after',
  ScheduleChanged: 'another rule of a RolloutSchedule becomes active, or none',
} as const;

export type LoggedReason = keyof typeof LOGGED;
