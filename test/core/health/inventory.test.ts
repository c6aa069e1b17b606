import { describe, expect, it } from 'vitest';
import { planReads } from '../../../core/health/inventoryReads.ts';
import { MAX_RESOURCES, parseInventory } from '../../../core/health/objects/inventory.ts';

describe('inventory ids', () => {
  it.each([
    ['demo_app_apps_Deployment', { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'demo', name: 'app' }],
    ['demo_app__ConfigMap', { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'demo', name: 'app' }],
    ['_demo__Namespace', { apiVersion: 'v1', kind: 'Namespace', namespace: '', name: 'demo' }],
    ['demo_a__b__c__Service', { apiVersion: 'v1', kind: 'Service', namespace: 'demo', name: 'a:b:c' }],
  ])('%s', (id, resource) => {
    expect(parseInventory([{ id, v: 'v1' }])).toEqual({ resources: [resource], errors: [] });
  });

  it.each([
    [{ id: 'nonsense', v: 'v1' }, "inventory id 'nonsense' is not <namespace>_<name>_<group>_<kind>"],
    [{ id: 'a_b', v: 'v1' }, "inventory id 'a_b' is not <namespace>_<name>_<group>_<kind>"],
    [{ id: 'demo_app_apps_', v: 'v1' }, "inventory id 'demo_app_apps_' is not <namespace>_<name>_<group>_<kind>"],
    [{ id: 'demo_app_apps_Deployment' }, 'inventory entry {"id":"demo_app_apps_Deployment"} has no id or no version'],
    [{ id: 7, v: 'v1' }, 'inventory entry {"id":7,"v":"v1"} has no id or no version'],
    [null, 'inventory entry null has no id or no version'],
  ])('%j is reported, and the others are still looked at', (broken, error) => {
    const { resources, errors } = parseInventory([broken, { id: 'demo_app__Service', v: 'v1' }]);
    expect(errors).toEqual([error]);
    expect(resources).toHaveLength(1);
  });

  it('is empty without a list', () => {
    expect(parseInventory(undefined)).toEqual({ resources: [], errors: [] });
    expect(parseInventory('demo_app__Service')).toEqual({ resources: [], errors: [] });
  });

  it('reports entries beyond the limit', () => {
    const entries = Array.from({ length: MAX_RESOURCES + 1 }, (_, i) => ({ id: `demo_app${i}__Service`, v: 'v1' }));
    const { resources, errors } = parseInventory(entries);
    expect(resources).toHaveLength(MAX_RESOURCES);
    expect(errors).toEqual([
      `the inventory has ${MAX_RESOURCES + 1} entries, only the first ${MAX_RESOURCES} are checked`,
    ]);
  });

  it('shortens an id of a megabyte', () => {
    expect(parseInventory([{ id: 'x'.repeat(1_000_000), v: 'v1' }]).errors[0]!.length).toBeLessThan(300);
  });
});

describe('reads', () => {
  const services = (count: number, namespace = 'demo') =>
    Array.from({ length: count }, (_, i) => ({ apiVersion: 'v1', kind: 'Service', namespace, name: `s${i}` }));

  it('lists from eight objects of a kind in a namespace on', () => {
    expect(planReads(services(7)).map((r) => r.how)).toEqual(['get']);
    expect(planReads(services(8)).map((r) => r.how)).toEqual(['list']);
    expect(planReads([...services(7, 'a'), ...services(7, 'b')]).map((r) => r.how)).toEqual(['get', 'get']);
  });

  it('reads ConfigMaps as metadata and Secrets not at all', () => {
    const of = (kind: string) => planReads([{ apiVersion: 'v1', kind, namespace: 'demo', name: 'x' }])[0]!.how;
    expect(of('ConfigMap')).toBe('metadata');
    expect(of('Secret')).toBe('nothing');
  });
});
