/**
 * Adopts a running Kustomization or OCIRepository under a Rollout, without changing what runs: finds the field that has
 * the version and the ImagePolicy that selects it, and makes the manifests of docs/adopt.md.
 */
import { BOUND_ROLLOUT, KUSTOMIZATION_NAME_LABEL, ROLLOUT_NAME_LABEL } from '../../../api/annotations.ts';
import type { FluxObject, ImagePolicy, ImageRepository } from '../../../api/flux.ts';
import type { KindName } from '../../../api/kinds.ts';
import type { AnyObject, NamespacedName } from '../../../api/kubernetes.ts';
import type { HealthCheck, Rollout, RolloutGate } from '../../../api/types.ts';
import { sameJson } from '../../../core/kube/json.ts';
import { identityOf, labelValue } from '../../../core/kube/names.ts';
import { isLegalTag } from '../../../core/kube/tag.ts';
import { managedFieldsOf } from '../../../core/managedField/managedFields.ts';
import { latestOf, policyRef } from '../../../core/policy/imagePolicy.ts';
import { policyRules } from '../../../core/policy/rules.ts';
import { type CommandLine, type TextWithCommands, withCommands } from '../../../core/text/commands.ts';
import { quote, shell } from '../../../core/text/shell.ts';
import { Problem } from '../../problem.ts';
import {
  type ApplierHealth,
  type BakeChoices,
  type BakeTimes,
  bakeHealth,
  bakeOf,
  hasBakeChoice,
} from './adoptedBake.ts';
import {
  createWrite,
  newObject,
  objectTitle,
  PROGRAM,
  PROGRAM_WORD,
  patchMetadata,
  patchWrite,
  titleOf,
  type WriteRequest,
} from './plannedWrite.ts';

/** The related objects of the object's namespace. */
export interface AdoptionContext {
  policies: readonly ImagePolicy[];
  /** The image of each ImageRepository, `registry/app`, by its name. */
  images: ReadonlyMap<string, string>;
  rollouts: readonly Rollout[];
  /** Absent where only the version matters. */
  health?: ApplierHealth;
}

/** The user's choices, for values that can't be detected. */
export interface Choices extends BakeChoices {
  policy?: string | undefined;
  variable?: string | undefined;
  /** The name of the Rollout. */
  rollout?: string | undefined;
  /** The running version. */
  runs?: string | undefined;
}

export interface Adoption {
  object: NamespacedName & { kind: 'Kustomization' | 'OCIRepository' };
  /** The Rollout that it gets. */
  rolloutRef: NamespacedName;
  version: string;
  /** The Rollout to create; absent if it exists. */
  rollout?: AnyObject;
  /** The RolloutGate that holds newer versions, if there are any. */
  gate?: RolloutGate;
  /** The HealthCheck that the Rollout selects. */
  healthCheck?: HealthCheck;
  /** The annotations that bind the object. */
  annotations: Record<string, string>;
  /** Notes for the user. */
  notes: TextWithCommands[];
}

/** A field that holds a version. */
interface Field {
  /** The variable; absent for spec.ref.tag. */
  variable?: string;
  value: string;
}

/** The images of ImageRepositories of one namespace, by name. */
export function imagesOf(repositories: readonly ImageRepository[]): Map<string, string> {
  return new Map(repositories.map(({ metadata, spec }) => [metadata.name ?? '', spec?.image ?? '']));
}

/** The plan to adopt an object. @throws Problem if it can't be adopted */
export function adopt(object: FluxObject, related: AdoptionContext, choices: Choices): Adoption {
  const kind = object.kind as Adoption['object']['kind'];
  const ref = identityOf(object);
  const title = objectTitle(kind, ref);
  const bake = bakeOf(choices);
  const all = fieldsOf(object, choices);
  const named = related.policies.filter(({ metadata }) => metadata.name === choices.policy);
  const accepted = all.filter(({ value }) => named.some((each) => policyRules(each).rejection(value) === undefined));
  // The named ImagePolicy may reject the running version.
  const fields = accepted.length > 0 ? accepted : all;
  const matched = fields.flatMap((field) => {
    const policies = policiesOf(object, field, related, choices);
    return policies.length > 0 ? [{ field, policies }] : [];
  });
  const [only, ...others] = matched;
  if (!only) {
    const known = related.policies.map(({ metadata }) => metadata.name).join(', ') || 'none';
    const values = fields.map(({ variable, value }) => `${variable ?? 'spec.ref.tag'}: ${value}`).join(', ');
    throw new Problem(
      `No ImagePolicy of namespace ${ref.namespace} selects the version of ${title} (${values}): name one with --policy (existing: ${known}).`,
    );
  }
  if (others.length > 0) {
    const variables = matched.map(({ field }) => field.variable).join(', ');
    throw new Problem(`${title} has several variables with a version (${variables}): name one with --variable.`);
  }
  const [policy, ...more] = only.policies;
  if (more.length > 0) {
    const names = only.policies.map(({ metadata }) => metadata.name).join(', ');
    throw new Problem(`More than one ImagePolicy selects ${only.field.value} (${names}): name one with --policy.`);
  }
  return newAdoption(object, only.field, policy!, related, choices, bake);
}

function newAdoption(
  object: FluxObject,
  { variable, value }: Field,
  policy: ImagePolicy,
  { rollouts, health }: AdoptionContext,
  choices: Choices,
  bake: BakeTimes,
): Adoption {
  const ref = identityOf(object);
  const policyName = policy.metadata.name ?? '';
  const existing = rollouts.find((each) =>
    choices.rollout ? each.metadata.name === choices.rollout : policyRef(each)?.name === policyName,
  );
  const rolloutRef = { ...ref, name: existing?.metadata.name ?? choices.rollout ?? policyName };
  const title = objectTitle('Rollout', rolloutRef);
  const deployed = existing?.status?.history?.[0]?.version.tag ?? existing?.spec?.initialVersion;
  if (existing && deployed !== value) {
    throw new Problem(
      `${title} has deployed ${deployed ?? 'nothing'}, and ${objectTitle(object.kind as KindName, ref)} runs ${value}: binding it would change what runs. Deploy ${value} first, or choose another name with --rollout.`,
    );
  }
  const latest = latestOf(policy)?.tag;
  const isAhead = !existing && latest !== value;
  const { healthCheck, notes } = existing
    ? { notes: hasBakeChoice(choices) ? [{ text: `${title} exists already: its bake stays as it is` }] : [] }
    : bakeHealth(rolloutRef, bake, health);
  const selector = healthCheck && { healthCheckSelector: { selector: { matchLabels: healthCheck.metadata.labels } } };
  return {
    object: { kind: object.kind as Adoption['object']['kind'], ...ref },
    rolloutRef,
    version: value,
    ...(!existing && { rollout: newRollout(rolloutRef, policyName, value, { ...bake, ...selector }) }),
    ...(healthCheck && { healthCheck }),
    ...(isAhead && { gate: holdingGate(rolloutRef) }),
    annotations:
      variable === undefined
        ? { [BOUND_ROLLOUT]: rolloutRef.name }
        : { [`rollout.kuberik.com/substitute.${variable}.from`]: rolloutRef.name },
    notes: [...notes, ...notesOf(object, variable, latest, isAhead, rolloutRef.name)],
  };
}

function newRollout({ namespace, name }: NamespacedName, policy: string, initialVersion: string, bake: object) {
  // The running version is no new release, so the RolloutGate, which holds later versions, must not hold it.
  const spec = { releasesImagePolicy: { name: policy }, initialVersion, gateFirstDeployment: false, ...bake };
  return newObject('Rollout', { name, namespace }, spec);
}

function holdingGate({ namespace, name }: NamespacedName): RolloutGate {
  const labels = { [ROLLOUT_NAME_LABEL]: labelValue(name) };
  const spec = { rolloutRef: { name }, passing: false };
  return newObject('RolloutGate', { name: gateNameOf(name), namespace, labels }, spec);
}

const gateNameOf = (rollout: string) => `${rollout}-adoption`;

/** The fields that may have the version, without those that are bound already. @throws Problem without one */
function fieldsOf(object: FluxObject, { variable, runs }: Choices): Field[] {
  const title = objectTitle(object.kind as KindName, identityOf(object));
  const bound = managedFieldsOf(object).fields;
  if (object.kind === 'OCIRepository') {
    if (bound.length > 0) throw new Problem(`${title} is bound to Rollout ${bound[0]!.rollout} already.`);
    const value = runs ?? runningTag(object);
    if (value) return [{ value }];
    throw new Problem(`${title} has no spec.ref.tag, and has not fetched a tag: name the running version with --runs.`);
  }
  const substitute =
    (object.spec as { postBuild?: { substitute?: Record<string, string> } }).postBuild?.substitute ?? {};
  if (variable !== undefined) {
    const value = runs ?? substitute[variable];
    if (bound.some((field) => field.variable === variable))
      throw new Problem(`${variable} of ${title} is bound to a Rollout already.`);
    if (value === undefined)
      throw new Problem(
        `${title} sets no ${variable} in spec.postBuild.substitute: name the running version with --runs.`,
      );
    if (isLegalTag(value)) return [{ variable, value }];
    throw new Problem(`${variable} of ${title} is '${value}', which is not a tag.`);
  }
  const free = Object.entries(substitute).filter(([key]) => !bound.some((field) => field.variable === key));
  const fields = free.filter(([, value]) => isLegalTag(value)).map(([key, value]) => ({ variable: key, value }));
  if (fields.length > 0) return fields;
  const why =
    bound.length > 0
      ? 'has every variable bound to a Rollout already'
      : 'sets no variable to a version in spec.postBuild.substitute';
  const hint = `if a setter in a manifest in Git has the version, write \${APP_VERSION} in its place, and add --variable APP_VERSION --runs <tag>`;
  throw new Problem(`${title} ${why}: ${hint}.`);
}

/** The running tag of an OCIRepository: from its spec, or else from the fetched artifact. */
function runningTag({ spec, status }: FluxObject): string | undefined {
  const { tag, semver, digest } = (spec as { ref?: Record<string, string> }).ref ?? {};
  if (tag && !semver && !digest) return tag;
  const { revision } = (status as { artifact?: { revision?: string } } | undefined)?.artifact ?? {};
  const fetched = /^([^@]+)@/.exec(revision ?? '')?.[1];
  return fetched !== undefined && isLegalTag(fetched) && fetched !== 'latest' ? fetched : undefined;
}

/** The ImagePolicies that could select the value; if there are several, those that match by image or name. */
function policiesOf(
  object: FluxObject,
  field: Field,
  { policies, images }: AdoptionContext,
  { policy, runs }: Choices,
): ImagePolicy[] {
  if (policy !== undefined) return policies.filter(({ metadata }) => metadata.name === policy);
  const url = String((object.spec as { url?: string }).url ?? '').replace(/^oci:\/\//, '');
  const possible = policies.filter((each) => policyRules(each).rejection(field.value) === undefined);
  const narrowings: ((each: ImagePolicy) => boolean)[] = [
    (each) => url !== '' && images.get(each.spec?.imageRepositoryRef?.name ?? '') === url,
    (each) => field.variable !== undefined && wordsOf(field.variable).startsWith(wordsOf(each.metadata.name ?? '')),
    (each) => runs === undefined && latestOf(each)?.tag === field.value && each.metadata.name === object.metadata.name,
    (each) => each.metadata.name === object.metadata.name,
  ];
  if (possible.length <= 1) return possible;
  for (const isMeant of narrowings) {
    const meant = possible.filter(isMeant);
    if (meant.length > 0) return meant;
  }
  return possible;
}

/** The words of a name, `-checkout-api-`: equal for `CHECKOUT_API` and `checkout-api`. */
function wordsOf(name: string): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
  return `-${words.replace(/[^a-z0-9]+/g, '-')}-`;
}

function notesOf(
  object: FluxObject,
  variable: string | undefined,
  latest: string | undefined,
  isAhead: boolean,
  rollout: string,
): TextWithCommands[] {
  const where = variable === undefined ? 'spec.ref.tag' : `the value of ${variable}`;
  const applier = object.metadata.labels?.[KUSTOMIZATION_NAME_LABEL];
  return [
    ...(isAhead && latest !== undefined
      ? [
          {
            text: `${latest} is published already: RolloutGate ${gateNameOf(rollout)} blocks it until you open it`,
            commands: [
              [
                'To open it',
                shell`${PROGRAM_WORD} open rolloutgate/${gateNameOf(rollout)} -n ${object.metadata.namespace ?? ''}`,
              ],
            ] satisfies CommandLine[],
          },
        ]
      : []),
    ...(applier
      ? [
          {
            text: `Kustomization ${applier} applies it from Git: add the annotation in Git too and remove ${where} there, so that Git and the Rollout cannot disagree`,
          },
          {
            text: `With Flux 2.9, spec.ignore of Kustomization ${applier} keeps the version even while admission is down`,
          },
        ]
      : []),
    {
      text: 'Setters of image automation ({"$imagepolicy": …}) in Git are not checked: remove those of this ImagePolicy, or each of their commits causes a Warning',
    },
  ];
}

interface AdoptWrites {
  /** In this order, as far as the objects don't exist: the RolloutGate, the HealthCheck, the Rollout. */
  creates: WriteRequest[];
  /** Binds the object. Before the Rollout has its first deployment, the object would lose its version for a moment. */
  bind: WriteRequest;
}

export function adoptWrites({
  gate,
  healthCheck,
  rollout,
  object,
  annotations,
  version,
  rolloutRef,
}: Adoption): AdoptWrites {
  const { kind, namespace, name } = object;
  const bound = newObject(kind, { namespace, name }, {});
  const create = (created: AnyObject | undefined, what: string) =>
    created ? [createWrite(created, { text: `Created ${titleOf(created)}, ${what}` })] : [];
  const text = `Bound ${titleOf(bound)} to ${objectTitle('Rollout', rolloutRef)}: ${version} stays`;
  return {
    creates: [
      ...create(gate, 'which blocks later versions'),
      ...create(healthCheck, 'which bakes watch'),
      ...create(rollout, `starting with ${version}`),
    ],
    bind: patchWrite(bound, patchMetadata(annotations), { text }),
  };
}

/** The write that binds the object as it is now. @throws Problem if it has changed since the plan was made */
export function bindWrite(adoption: Adoption, planned: FluxObject, now: FluxObject | undefined): WriteRequest {
  const state = (object: FluxObject) => ({
    uid: object.metadata.uid,
    spec: object.spec,
    bound: managedFieldsOf(object).fields,
    tag: runningTag(object),
  });
  if (!now || !sameJson(state(planned), state(now))) {
    const object = objectTitle(adoption.object.kind, adoption.object);
    throw new Problem(
      `${object} has changed since it was read, so it was not bound to ${objectTitle('Rollout', adoption.rolloutRef)}. Check the plan again.`,
    );
  }
  const { bind } = adoptWrites(adoption);
  return { ...bind, body: patchMetadata(adoption.annotations, now) };
}

/** The new objects, in the order in which they are created. */
export function newObjects({ gate, healthCheck, rollout }: Adoption): AnyObject[] {
  return [gate, healthCheck, rollout].flatMap((each) => each ?? []);
}

/** The part of the object that has to be in Git: its annotations. */
export function boundObject({ apiVersion, kind, metadata }: FluxObject, { annotations }: Adoption): AnyObject {
  const { name, namespace } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, annotations } } as AnyObject;
}

/** The message if the Rollout hasn't started, so that the object isn't bound. */
export function notStartedText({ rolloutRef: ref, version }: Adoption, seconds: number): string {
  return withCommands(
    `${objectTitle('Rollout', ref)} did not start with ${version} within ${seconds} s: a closed Gate blocks it, or Metacontroller is not running. Nothing is bound yet: run this again once it has started.`,
    ['To see what it waits for', shell`${PROGRAM_WORD} why ${ref.name} -n ${ref.namespace}`],
  );
}

/** The command that adopts the object: `kubectl rollouts -n shop adopt kustomization/checkout --apply`. */
export function adoptCommandOf({ kind, namespace, name }: Adoption['object'], choices: Choices): string {
  const chosen = (['policy', 'variable', 'rollout', 'runs'] as const).flatMap((key) =>
    choices[key] ? [`--${key}`, choices[key]] : [],
  );
  const bake = [
    ...(choices.bakeTime ? ['--bake-time', choices.bakeTime] : []),
    ...(choices.deployTimeout ? ['--deploy-timeout', choices.deployTimeout] : []),
    ...(choices.noBake ? ['--no-bake'] : []),
  ];
  return `${PROGRAM} ${['-n', namespace, 'adopt', `${kind.toLowerCase()}/${name}`, ...chosen, ...bake, '--apply'].map(quote).join(' ')}`;
}
