/**
 * Whatever a tenant writes on an object that the API server takes (manifests/policies/object-sizes.yaml), a Gate of
 * another namespace that is closed over it suspends it: by the decorator's mark, by the mark of a request that was too
 * large to be read, and in the tenant's own next write.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FluxObject } from '../../../api/flux.ts';
import { GOVERNED_KINDS } from '../../../api/kinds.ts';
import type { Gate } from '../../../api/types.ts';
import { fakeCluster, fakeHookCall } from '../../../dev/fakes/ports.ts';
import { decorating } from '../../../dev/fakes/requests.ts';
import { holdHook } from '../../../hooks/flux/holdHook.ts';
import { mutateFlux, validateFlux } from '../../../webhooks/flux/fluxAdmission.ts';
import { gate, NOW } from '../../core/admission/objects.ts';
import { send } from '../../support/admission.ts';
import { annotations, labels, text } from '../../support/tenantWrites.ts';

const RUNS = Number(process.env.HELD_RUNS ?? 300);
const METACONTROLLER = { username: 'system:serviceaccount:metacontroller:metacontroller' };
const freeze = gate('ops/freeze', { selects: { namespaceSelector: {} } });
const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: { team: 'shop' } } };
/** HELD_RUNS=10000 runs for a night. */
const PATIENCE_MS = 300_000 + RUNS * 200;
const spec = fc.record(
  {
    suspend: fc.boolean(),
    path: text,
    patches: fc.constantFrom([], ['<'.repeat(50_000)]),
    values: fc.dictionary(
      fc.string(),
      fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value))),
    ),
    sourceRef: fc.constantFrom({ kind: 'OCIRepository', name: 'web' }, { kind: 'GitRepository', name: 'web' }),
  },
  { requiredKeys: [] },
);

const written = fc
  .record({
    row: fc.constantFrom(...GOVERNED_KINDS),
    annotations,
    labels,
    spec,
    /** Gates of the tenant. */
    own: fc.array(
      fc.record({ default: fc.constantFrom('opened', 'closed'), selects: fc.constantFrom(undefined, {}) }),
      { maxLength: 5 },
    ),
  })
  .map(({ row, annotations, labels, spec, own }) => {
    const metadata = { name: 'web', namespace: 'shop', uid: 'u', generation: 3, annotations, labels };
    const object = {
      apiVersion: `${row.group}/${row.versions[0]}`,
      kind: row.kind,
      metadata,
      spec,
    } as unknown as FluxObject;
    return { object, gates: own.map((spec, i) => gate(`shop/own-${i}`, spec as never)) };
  });

const isHeld = ({ metadata, spec }: FluxObject) =>
  spec?.suspend === true && metadata.annotations?.['gate.fluxcd.io/suspended'] !== undefined;

/** Writes as the API server does, which limits the total size of annotations. */
async function write(
  object: FluxObject,
  oldObject: FluxObject,
  gates: Gate[],
  user?: { username: string },
): Promise<FluxObject | undefined> {
  // No Rollout can be read, and none is waited for.
  const context = { objects: [...gates, freeze, home], broken: ['rollouts', 'ocirepositories'] };
  const own = user ? { user } : {};
  const mutated = await send(mutateFlux, { object, oldObject, ...own }, context);
  if (!mutated.object) return undefined;
  const valid = await send(validateFlux, { object: mutated.object, oldObject, ...own }, context);
  expect(valid.message).toBe('');
  const annotations = Object.entries(mutated.object.metadata.annotations ?? {})
    .flat()
    .join('');
  expect(new TextEncoder().encode(annotations).length).toBeLessThan(256 * 1024);
  return mutated.object;
}

const annotate = (object: FluxObject, marks: Record<string, string | null>): FluxObject => {
  const annotations = { ...object.metadata.annotations, ...marks } as Record<string, string | null>;
  for (const [key, value] of Object.entries(annotations)) if (value === null) delete annotations[key];
  return { ...object, metadata: { ...object.metadata, annotations: annotations as Record<string, string> } };
};

describe('a closed Gate of another namespace suspends', { timeout: PATIENCE_MS }, () => {
  it('whatever a tenant has stored, by the decorator’s mark', async () => {
    await fc.assert(
      fc.asyncProperty(written, async ({ object, gates }) => {
        const { call } = fakeHookCall({ now: NOW, cluster: fakeCluster([...gates, home]) });
        const answer = await holdHook.sync(decorating(object, { related: [...gates, freeze, home] }), call);
        const stored = await write(annotate(object, answer.annotations ?? {}), object, gates, METACONTROLLER);
        expect(stored && isHeld(stored)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it('where its Gates were too large to be sent', async () => {
    await fc.assert(
      fc.asyncProperty(written, async ({ object, gates }) => {
        const stored = await write(
          annotate(object, holdHook.answerTooLarge!(NOW).annotations!),
          object,
          gates,
          METACONTROLLER,
        );
        expect(stored && isHeld(stored)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it('in the tenant’s own next write, or refuses it', async () => {
    await fc.assert(
      fc.asyncProperty(written, written, async ({ object: oldObject, gates }, { object: next }) => {
        const object = {
          ...oldObject,
          spec: next.spec!,
          metadata: { ...oldObject.metadata, annotations: next.metadata.annotations! },
        };
        // For objects that may bypass a Gate the Rollouts are read: if that fails, the API server refuses the write.
        const stored = await write(object, oldObject, gates).catch((error: Error) => {
          expect(error.message).toBe('rollouts cannot be read');
          return undefined;
        });
        expect(stored === undefined || isHeld(stored)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });
});
