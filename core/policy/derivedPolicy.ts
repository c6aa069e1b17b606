/**
 * `spec.writeBack`: the derived ImagePolicy, which selects exactly the deployed tag, for an ImageUpdateAutomation to
 * commit. Git sets the fields of the bound objects then, and rollout-hooks sets none.
 */
import { ROLLOUT_NAME_LABEL } from '../../api/annotations.ts';
import type { ImagePolicy } from '../../api/flux.ts';
import { apiVersionOf, KINDS } from '../../api/kinds.ts';
import type { Rollout } from '../../api/types.ts';
import { labelValue } from '../kube/names.ts';
import { isLegalTag } from '../kube/tag.ts';
import { repositoryRef } from './imagePolicy.ts';

const { kind } = KINDS.ImagePolicy;
const apiVersion = apiVersionOf(KINDS.ImagePolicy);
/** Characters of a name that is copied from the source policy. */
const MAX_NAME = 253;
/** Fields of the source policy that decide on the digest in `latestRef`. */
const COPIED_FIELDS = ['digestReflectionPolicy', 'interval'] as const;
/** Characters of a copied field. */
const MAX_FIELD = 64;

/** The name of the derived ImagePolicy; undefined if the Rollout itself sets the fields of its objects. */
export function writeBackName(rollout: Rollout | undefined): string | undefined {
  return rollout?.spec?.writeBack?.imagePolicy || undefined;
}

/** The labels of derived policies, for the policySelector of an ImageUpdateAutomation that commits no others. */
export function derivedLabels({ metadata }: Rollout): Record<string, string> {
  return { [ROLLOUT_NAME_LABEL]: labelValue(metadata.name ?? '') };
}

interface WriteBack {
  rollout: Rollout;
  /** The source policy. */
  imagePolicy?: ImagePolicy | undefined;
  /** The present derived policy. */
  derivedPolicy?: ImagePolicy | undefined;
}

/**
 * The derived ImagePolicy, from the stored history: the API server may reject the status that is about to be stored.
 * If the tag or the repository is unknown, the policy stays as it is, so that Flux does not commit another tag, or
 * none.
 */
export function derivedPolicy({ rollout, imagePolicy, derivedPolicy: before }: WriteBack): ImagePolicy | undefined {
  const name = writeBackName(rollout);
  if (!name) return undefined;
  const { namespace = '' } = rollout.metadata;
  const metadata = { name, namespace, labels: derivedLabels(rollout) };
  const tag = rollout.status?.history?.[0]?.version?.tag;
  const repository = imagePolicy && repositoryRef(imagePolicy);
  const isKnown = repository && repository.name.length <= MAX_NAME && repository.namespace.length <= MAX_NAME;
  if (!isKnown || typeof tag !== 'string' || !isLegalTag(tag)) {
    return before?.spec && { apiVersion, kind, metadata, spec: before.spec };
  }
  const imageRepositoryRef = repository.namespace === namespace ? { name: repository.name } : repository;
  return {
    apiVersion,
    kind,
    metadata,
    spec: {
      imageRepositoryRef,
      // The dot is the only character of a tag with a meaning in a regular expression.
      filterTags: { pattern: `^${tag.replaceAll('.', '\\.')}$` },
      policy: { alphabetical: { order: 'asc' } },
      ...copiedFields(imagePolicy),
    },
  };
}

function copiedFields({ spec }: ImagePolicy): Record<string, string> {
  return Object.fromEntries(
    COPIED_FIELDS.flatMap((key) => {
      const value = spec?.[key];
      return typeof value === 'string' && value.length <= MAX_FIELD ? [[key, value]] : [];
    }),
  );
}
