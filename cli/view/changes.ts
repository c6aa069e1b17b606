/** What has changed between two looks at an application, a line each: for pipes and logs. */
import type { Application, Step } from '../../client/explain/application.ts';

/** Empty where nothing that is shown has changed. The first look is the headline. */
export function changeLines(before: Application | undefined, after: Application): string[] {
  const name = `${after.namespace}/${after.name}`;
  if (before && sameJson(before.steps, after.steps) && before.headline === after.headline) return [];
  const known = new Map(before?.steps.map((step) => [step.id, step]));
  const steps = before
    ? after.steps.filter((step) => step.state !== known.get(step.id)?.state)
    : after.steps.filter(({ state }) => state === 'blocks');
  const headline = before?.headline === after.headline ? [] : [`${name}: ${after.headline}`];
  return [...headline, ...steps.map((step) => `${name}: ${stepText(step)}`)];
}

function stepText({ title, state, detail }: Step): string {
  return `${title} ${state}${detail ? `: ${detail}` : ''}`;
}

function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
