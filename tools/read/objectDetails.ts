/** Details of an object besides its explanation: reads its Events, and prints them. */
import type { AnyObject } from '../../api/kubernetes.ts';
import { type ObjectDetails, objectDetails } from '../../client/explain/objectDetails.ts';
import type { CoreEvent } from '../../core/audit/eventRecords.ts';
import { type KubeClient, unlessRefused } from '../kube/kubeClient.ts';
import { yamlText } from '../kube/objectText.ts';

export async function readDetails(
  client: KubeClient,
  object: AnyObject,
): Promise<{ details: ObjectDetails; yaml: string }> {
  const { managedFields: _, ...metadata } = object.metadata;
  const events = client.list<CoreEvent>({
    apiVersion: 'v1',
    resource: 'events',
    // Events of cluster-scoped objects live in `default`.
    namespace: metadata.namespace ?? 'default',
    fieldSelector: `involvedObject.uid=${metadata.uid}`,
  });
  return {
    details: objectDetails(object, await unlessRefused(events, 403)),
    yaml: await yamlText({ ...object, metadata }),
  };
}
