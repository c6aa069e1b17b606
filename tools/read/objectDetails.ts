/** Reads the details of an object for the page: its Events, and its YAML. */
import type { AnyObject } from '../../api/kubernetes.ts';
import { type ObjectDetails, objectDetails } from '../../client/explain/objectDetails.ts';
import type { CoreEvent } from '../../core/audit/eventRecords.ts';
import { type KubeClient, unlessRefused } from '../kube/kubeClient.ts';
import { withoutManagedFields, yamlText } from '../kube/objectText.ts';

export async function readDetails(
  client: KubeClient,
  object: AnyObject,
): Promise<{ details: ObjectDetails; yaml: string }> {
  const { metadata } = object;
  const events = client.list<CoreEvent>({
    apiVersion: 'v1',
    resource: 'events',
    // Events of cluster-scoped objects live in `default`.
    namespace: metadata.namespace ?? 'default',
    fieldSelector: `involvedObject.uid=${metadata.uid}`,
  });
  return {
    details: objectDetails(object, await unlessRefused(events, 403)),
    yaml: await yamlText(withoutManagedFields(object)),
  };
}
