/** Checks that our two ServiceAccounts have the rights that they need. */
import { HOOK_SERVER, isAllowed } from '../../connection/read/accessReviews.ts';
import { firstFew } from '../../core/text/firstFew.ts';
import { metacontrollerUser } from './checkMetacontroller.ts';
import { checkOf, type Found, findingsOrFine, notChecked, problem } from './finding.ts';

type Need = readonly [verb: string, group: string, resource: string, subresource?: string];

const KUBERIK = 'kuberik.com';
const GATING = 'gating.toolkit.fluxcd.io';

/** Its account in our manifests. */
const METACONTROLLER = 'system:serviceaccount:metacontroller:metacontroller';

/** One right of each rule: if the right is missing, the rule is. */
const ACCOUNTS: { account: string; file: string; needs: readonly Need[] }[] = [
  {
    account: HOOK_SERVER,
    file: 'manifests/rbac/hook-server.yaml',
    needs: [
      ['list', KUBERIK, 'rollouts'],
      ['list', KUBERIK, 'rolloutgates'],
      ['get', GATING, 'gates'],
      ['get', 'kustomize.toolkit.fluxcd.io', 'kustomizations'],
      ['get', 'source.toolkit.fluxcd.io', 'ocirepositories'],
      ['get', 'image.toolkit.fluxcd.io', 'imagepolicies'],
      ['list', '', 'namespaces'],
      ['create', 'authorization.k8s.io', 'subjectaccessreviews'],
      ['create', '', 'events'],
      ['get', '', 'events'],
    ],
  },
  {
    account: METACONTROLLER,
    file: 'manifests/rbac/metacontroller.yaml',
    needs: [
      ['watch', KUBERIK, 'rollouts'],
      ['update', KUBERIK, 'rollouts', 'status'],
      ['update', GATING, 'gates', 'status'],
      ['create', KUBERIK, 'fluxbindings'],
      ['update', 'kustomize.toolkit.fluxcd.io', 'kustomizations'],
      ['update', 'source.toolkit.fluxcd.io', 'ocirepositories'],
      ['watch', 'image.toolkit.fluxcd.io', 'imagepolicies'],
      ['watch', '', 'namespaces'],
    ],
  },
];

export const checkRights = checkOf('Rights', async (inputs) => {
  const findings: Found[] = [];
  const actual = await metacontrollerUser(inputs);
  for (const { account, file, needs } of ACCOUNTS) {
    const user = account === METACONTROLLER ? (actual ?? account) : account;
    const lacks: string[] = [];
    for (const [verb, group, resource, subresource] of needs) {
      const allowed = await isAllowed(inputs.client, user, { verb, group, resource, subresource });
      if (allowed === undefined) return [notChecked("you aren't allowed to review the access of our ServiceAccounts")];
      if (!allowed) lacks.push(`${verb} ${resource}${subresource ? `/${subresource}` : ''}`);
    }
    const apply = `kubectl apply --server-side -f ${file}`;
    if (lacks.length > 0)
      findings.push(problem(`${user} isn't allowed to ${firstFew(lacks, 4)}`, 'apply its roles again', apply));
  }
  return findingsOrFine(findings, 'our ServiceAccounts have the rights that they need');
});
