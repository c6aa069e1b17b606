/**
 * Reasons in the log of decisions without an Event, each with the cause of its line. Every Event is a line too, with
 * its own reason. docs/reference/log.md is generated from this.
 */
export const LOGGED = {
  Denied: 'admission denies a write, with user, write and cause; at most once in ten minutes',
  Reverted: 'admission reverts an apply behind a closed Gate; once for each generation of the object and each closure',
  Suspended: 'closed Gates, which the line names, suspend a Flux object',
  Opening: 'the Gates of a suspended object are open; it waits for the next apply of its applier',
  Resumed: 'an object is no longer suspended by Gates',
  BypassAllowed:
    'admission allows a write that bypasses closed Gates, with user, Gates and reason. Once the write is stored, `GateBypassed` follows',
  Bypassed: 'an object runs although its Gates are closed, after a bypass',
  Bypassing: 'an object takes one deployment that bypasses closed Gates',
  VersionSet: 'an object takes the version of a Rollout, which the line names',
  Requested: 'a user sets a request annotation, or `spec.wantedVersion`, of a Rollout',
  RequestUsed: 'a request took effect, and its annotation is removed',
  HealthChanged: 'the health of a HealthCheck changes: before and after',
  ScheduleChanged: 'another rule of a RolloutSchedule becomes active, or none',
} as const;

export type LoggedReason = keyof typeof LOGGED;
