/** SubjectAccessReview and TokenReview, the implementations of the ports `AccessReviewer` and `TokenReviewer`. */
import type { UserInfo } from '../../api/admission.ts';
import type { AccessReviewer, SharedReads, TokenReviewer } from '../../api/ports.ts';
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

const ANSWER_MAX_AGE_MS = 60_000;

/** A reviewer that caches answers for a minute. For repeated reads only, never for a decision on a write. */
export function withCachedAnswers(reviewer: AccessReviewer, sharedReads: SharedReads): AccessReviewer {
  return {
    may: (user, what) =>
      sharedReads.recent(ANSWER_MAX_AGE_MS, `access ${JSON.stringify([user, what])}`, () => reviewer.may(user, what)),
  };
}

interface TokenReviewStatus {
  authenticated?: boolean;
  user?: UserInfo;
  audiences?: string[];
}

export function createTokenReviewer(transport: Transport): TokenReviewer {
  return {
    async userOf(token, audience) {
      const { status } = await transport.send<{ status?: TokenReviewStatus }>({
        method: 'POST',
        path: '/apis/authentication.k8s.io/v1/tokenreviews',
        body: {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenReview',
          spec: { token, audiences: [audience] },
        },
      });
      // An authenticator without support for audiences accepts a token and returns no audience.
      return status?.authenticated === true && status.audiences?.includes(audience) ? status.user : undefined;
    },
  };
}
