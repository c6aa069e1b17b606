/** SubjectAccessReview, the implementation of the port `AccessReviewer`. */
import type { AccessReviewer, Recent } from '../../api/ports.ts';
import type { Transport } from './transport.ts';

export function createAccessReviewer(transport: Transport): AccessReviewer {
  return {
    async may(user, { verb, group, resource, namespace, name }) {
      const review = await transport.send<{ status?: { allowed?: boolean } }>({
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          spec: {
            user: user.username,
            uid: user.uid,
            groups: user.groups,
            extra: user.extra,
            resourceAttributes: { verb, group, resource, namespace, name },
          },
        },
      });
      return review.status?.allowed === true;
    },
  };
}

const REMEMBERED_MS = 60_000;

/** The same for repeated reads, never to decide on a write: an answer does for a minute. */
export function withRememberedAnswers(reviewer: AccessReviewer, recent: Recent): AccessReviewer {
  return {
    may: (user, what) =>
      recent.within(REMEMBERED_MS, `access ${JSON.stringify([user, what])}`, () => reviewer.may(user, what)),
  };
}
