/**
 * Puts a running Kustomization or OCIRepository under a Rollout without changing what runs: which fields hold a version, which ImagePolicy
 * each follows, and the manifests of docs/adopt.md.
 */
import { BOUND_ROLLOUT, ROLLOUT_NAME_LABEL } from '../../../api/annotations.ts';
import type { FluxObject, ImagePolicy, ImageRepository } from '../../../api/flux.ts';
import { apiVersionOf, KINDS } from '../../../api/kinds.ts';
import type { KubeObject, NamespacedName } from '../../../api/kubernetes.ts';
import type { Rollout, RolloutGate } from '../../../api/types.ts';
import { parseDuration } from '../../../core/kube/duration.ts';
import { identityOf, labelValue } from '../../../core/kube/names.ts';
import { isLegalTag } from '../../../core/kube/tag.ts';
import { managedFieldsOf } from '../../../core/managedField/managedFields.ts';
import { latestOf, policyRef } from '../../../core/policy/imagePolicy.ts';
import { policyRules } from '../../../core/policy/rules.ts';
import { type CommandLine, type TextWithCommands, withCommands } from '../../../core/text/commands.ts';
import { quote, shell } from '../../../core/text/shell.ts';
import { creating, named, OURS, PROGRAM, patching, type WriteRequest } from './plannedWrite.ts';

/** The related objects of the namespace. */
export interface AdoptionContext {
  policies: readonly ImagePolicy[];
  /** Image of each ImageRepository, `registry/app`, by its name. */
  images: ReadonlyMap<string, string>;
  rollouts: readonly Rollout[];
}

/** The user's choices for what cannot be detected. */
export interface Choices {
  policy?: string | undefined;
  variable?: string | undefined;
  /** Name of the Rollout. */
  rollout?: string | undefined;
  /** The running version. */
  runs?: string | undefined;
  /** How long a version bakes, and how long its apply may take. */
  bakeTime?: string | undefined;
  deployTimeout?: string | undefined;
  /** No bake. */
  noBake?: true | undefined;
}

/**
 * Defaults for a new Rollout. Without both it would watch no version, and none would fail: users get that only
 * if they choose it.
 */
export const BAKE = { bakeTime: '10m', deployTimeout: '30m' } as const;

export interface Adoption {
  object: NamespacedName & { kind: 'Kustomization' | 'OCIRepository' };
  rolloutName: string;
  version: string;
  /** The Rollout to create; absent if it exists. */
  rollout?: KubeObject<any, any>;
  /** The RolloutGate that holds newer versions, if there are any. */
  gate?: RolloutGate;
  /** Annotations that bind the object. */
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

/** Images of the ImageRepositories of one namespace, by name. */
export function imagesOf(repositories: readonly ImageRepository[]): Map<string, string> {
  return new Map(repositories.map(({ metadata, spec }) => [metadata.name ?? '', spec?.image ?? '']));
}

/** The manifests, or the problem that prevents them. */
export function adopt(object: FluxObject, related: AdoptionContext, choices: Choices): Adoption | { problem: string } {
  const kind = object.kind as Adoption['object']['kind'];
  const ref = identityOf(object);
  const name = named(kind, ref);
  const bake = bakeOf(choices);
  if ('problem' in bake) return bake;
  const fields = fieldsOf(object, choices);
  if ('problem' in fields) return fields;
  const matched = fields.flatMap((field) => {
    const policies = policiesOf(object, field, related, choices);
    return policies.length > 0 ? [{ field, policies }] : [];
  });
  const [only, ...others] = matched;
  if (!only) {
    const known = related.policies.map(({ metadata }) => metadata.name).join(', ') || 'none';
    const values = fields.map(({ variable, value }) => `${variable ?? 'spec.ref.tag'}: ${value}`).join(', ');
    return {
      problem: `No ImagePolicy of namespace ${ref.namespace} selects what ${name} has (${values}): say which with --policy (there is ${known}).`,
    };
  }
  if (others.length > 0) {
    const variables = matched.map(({ field }) => field.variable).join(', ');
    return {
      problem: `${name} has more than one variable that an ImagePolicy selects (${variables}): say which with --variable.`,
    };
  }
  const [policy, ...more] = only.policies;
  if (more.length > 0) {
    const names = only.policies.map(({ metadata }) => metadata.name).join(', ');
    return { problem: `More than one ImagePolicy selects ${only.field.value} (${names}): say which with --policy.` };
  }
  return adoption(object, only.field, policy!, related, choices, bake);
}

/** `spec.bakeTime` and `spec.deployTimeout` of a new Rollout. */
function bakeOf({
  bakeTime,
  deployTimeout,
  noBake,
}: Choices): Partial<Record<keyof typeof BAKE, string>> | { problem: string } {
  const requested = { '--bake-time': bakeTime, '--deploy-timeout': deployTimeout };
  for (const [flag, text] of Object.entries(requested)) {
    if (text === undefined) continue;
    if (noBake) return { problem: '--no-bake goes with neither --bake-time nor --deploy-timeout.' };
    if (!parseDuration(text)) return { problem: `'${cut(text)}' is no duration for ${flag}: write 90s, 10m or 1h30m.` };
  }
  return noBake ? {} : { bakeTime: bakeTime ?? BAKE.bakeTime, deployTimeout: deployTimeout ?? BAKE.deployTimeout };
}

function cut(text: string): string {
  return text.length > 50 ? `${text.slice(0, 50)}…` : text;
}

function adoption(
  object: FluxObject,
  { variable, value }: Field,
  policy: ImagePolicy,
  { rollouts }: AdoptionContext,
  choices: Choices,
  bake: object,
): Adoption | { problem: string } {
  const ref = identityOf(object);
  const policyName = policy.metadata.name ?? '';
  const existing = rollouts.find((each) =>
    choices.rollout ? each.metadata.name === choices.rollout : policyRef(each)?.name === policyName,
  );
  const rolloutName = existing?.metadata.name ?? choices.rollout ?? policyName;
  const has = existing?.status?.history?.[0]?.version.tag ?? existing?.spec?.initialVersion;
  if (existing && has !== value) {
    return {
      problem: `${named('Rollout', identityOf(existing))} has ${has ?? 'nothing'} deployed, and ${named(object.kind as 'Kustomization', ref)} runs ${value}: binding it would change what runs. Deploy ${value} first, or choose another name with --rollout.`,
    };
  }
  const latest = latestOf(policy)?.tag;
  const isAhead = !existing && latest !== value;
  return {
    object: { kind: object.kind as Adoption['object']['kind'], ...ref },
    rolloutName,
    version: value,
    ...(!existing && { rollout: newRollout({ namespace: ref.namespace, name: rolloutName }, policyName, value, bake) }),
    ...(isAhead && { gate: holdingGate(ref.namespace, rolloutName) }),
    annotations:
      variable === undefined
        ? { [BOUND_ROLLOUT]: rolloutName }
        : { [`rollout.kuberik.com/substitute.${variable}.from`]: rolloutName },
    notes: [
      ...(existing && (choices.bakeTime || choices.deployTimeout || choices.noBake)
        ? [{ text: `${named('Rollout', identityOf(existing))} exists already: its bake stays as it is` }]
        : []),
      ...notesOf(object, variable, latest, isAhead, rolloutName),
    ],
  };
}

function newRollout(
  { namespace, name }: NamespacedName,
  policy: string,
  initialVersion: string,
  bake: object,
): KubeObject<any, any> {
  return {
    apiVersion: apiVersionOf(KINDS.Rollout),
    kind: KINDS.Rollout.kind,
    metadata: { name, namespace },
    // What runs is no release: the gate holds what comes next.
    spec: { releasesImagePolicy: { name: policy }, initialVersion, gateFirstDeployment: false, ...bake },
  };
}

function holdingGate(namespace: string, rollout: string): RolloutGate {
  return {
    apiVersion: apiVersionOf(KINDS.RolloutGate),
    kind: KINDS.RolloutGate.kind,
    metadata: { name: `${rollout}-take-over`, namespace, labels: { [ROLLOUT_NAME_LABEL]: labelValue(rollout) } },
    spec: { rolloutRef: { name: rollout }, passing: false },
  };
}

/** The fields that may hold the version, without those that are bound already. */
function fieldsOf(object: FluxObject, { variable, runs }: Choices): Field[] | { problem: string } {
  const name = named(object.kind as 'Kustomization', identityOf(object));
  const bound = managedFieldsOf(object).fields;
  if (object.kind === 'OCIRepository') {
    if (bound.length > 0) return { problem: `${name} is bound to Rollout ${bound[0]!.rollout} already.` };
    const value = runs ?? runningTag(object);
    return value
      ? [{ value }]
      : { problem: `${name} has no spec.ref.tag, and has not fetched a tag: name the running version with --runs.` };
  }
  const substitute =
    (object.spec as { postBuild?: { substitute?: Record<string, string> } }).postBuild?.substitute ?? {};
  if (variable !== undefined) {
    const value = runs ?? substitute[variable];
    if (bound.some((field) => field.variable === variable))
      return { problem: `${variable} of ${name} is bound to a Rollout already.` };
    if (value === undefined)
      return {
        problem: `${name} sets no ${variable} in spec.postBuild.substitute: name the running version with --runs.`,
      };
    return isLegalTag(value)
      ? [{ variable, value }]
      : { problem: `${variable} of ${name} is '${value}', which is no tag.` };
  }
  const free = Object.entries(substitute).filter(([key]) => !bound.some((field) => field.variable === key));
  const fields = free.filter(([, value]) => isLegalTag(value)).map(([key, value]) => ({ variable: key, value }));
  if (fields.length > 0) return fields;
  const why =
    bound.length > 0
      ? 'has every variable bound to a Rollout already'
      : 'sets no variable to a version in spec.postBuild.substitute';
  const hint = `where the version is a setter in a manifest in Git, write \${APP_VERSION} there, and say --variable APP_VERSION --runs <tag>`;
  return { problem: `${name} ${why}: ${hint}.` };
}

/** The running tag: that of the spec of an OCIRepository, else that of its fetched artifact. */
function runningTag({ spec, status }: FluxObject): string | undefined {
  const { tag, semver, digest } = (spec as { ref?: Record<string, string> }).ref ?? {};
  if (tag && !semver && !digest) return tag;
  const { revision } = (status as { artifact?: { revision?: string } } | undefined)?.artifact ?? {};
  const fetched = /^([^@]+)@/.exec(revision ?? '')?.[1];
  return fetched !== undefined && isLegalTag(fetched) && fetched !== 'latest' ? fetched : undefined;
}

/** ImagePolicies that could select the value; if there are several, those that match by image or name. */
function policiesOf(
  object: FluxObject,
  field: Field,
  { policies, images }: AdoptionContext,
  { policy, runs }: Choices,
): ImagePolicy[] {
  if (policy !== undefined) return policies.filter(({ metadata }) => metadata.name === policy);
  const url = String((object.spec as { url?: string }).url ?? '').replace(/^oci:\/\//, '');
  const possible = policies.filter((each) => policyRules(each).refusal(field.value) === undefined);
  const narrowings: ((each: ImagePolicy) => boolean)[] = [
    (each) => url !== '' && images.get(each.spec?.imageRepositoryRef?.name ?? '') === url,
    (each) => field.variable !== undefined && wordOf(field.variable).startsWith(wordOf(each.metadata.name ?? '')),
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

/** The first word of a name: equal for `CHECKOUT_API_VERSION` and `checkout-api`. */
function wordOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

function notesOf(
  object: FluxObject,
  variable: string | undefined,
  latest: string | undefined,
  isAhead: boolean,
  rollout: string,
): TextWithCommands[] {
  const where = variable === undefined ? 'spec.ref.tag' : `the value of ${variable}`;
  const applier = object.metadata.labels?.['kustomize.toolkit.fluxcd.io/name'];
  return [
    ...(isAhead && latest !== undefined
      ? [
          {
            text: `${latest} is published already: RolloutGate ${rollout}-take-over holds it until you open it`,
            commands: [
              [
                'To open it',
                shell`${OURS} open rolloutgate/${rollout}-take-over -n ${object.metadata.namespace ?? ''}`,
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
            text: `With Flux 2.9, spec.ignore of Kustomization ${applier} keeps the version also while admission is away: docs/adopt.md`,
          },
        ]
      : []),
    {
      text: 'Setters of image automation ({"$imagepolicy": …}) in manifests in Git cannot be seen from here: take those of this policy out, or each of their commits is a warning',
    },
  ];
}

interface AdoptWrites {
  /** Creates the RolloutGate; absent if there is no newer version. */
  hold?: WriteRequest;
  /** Creates the Rollout; absent if it exists. */
  begin?: WriteRequest;
  /**
   * Binds the object. Only after the Rollout has its first deployment: until then the object would have no
   * version for a moment.
   */
  bind: WriteRequest;
}

export function adoptWrites({ gate, rollout, object, annotations, version, rolloutName }: Adoption): AdoptWrites {
  const ref = rolloutRef({ object, rolloutName });
  const holds = named('RolloutGate', { ...ref, name: gate?.metadata.name ?? '' });
  return {
    ...(gate && { hold: creating('RolloutGate', gate, { text: `Created ${holds}, which blocks later versions` }) }),
    ...(rollout && {
      begin: creating('Rollout', rollout, { text: `Created ${named('Rollout', ref)}, starting with ${version}` }),
    }),
    bind: patching(
      object.kind,
      object,
      { metadata: { annotations } },
      { text: `Bound ${named(object.kind, object)} to ${named('Rollout', ref)}: ${version} stays` },
    ),
  };
}

/** New objects in the order in which they are created. */
export function newObjects({ gate, rollout }: Pick<Adoption, 'gate' | 'rollout'>): KubeObject<any, any>[] {
  return [gate, rollout].flatMap((each) => each ?? []);
}

/** The object with the fields that have to be in Git. */
export function boundObject({ apiVersion, kind, metadata }: FluxObject, found: Adoption): KubeObject<any, any> {
  const { name, namespace } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, annotations: found.annotations } } as KubeObject<any, any>;
}

export function rolloutRef({ object, rolloutName }: Pick<Adoption, 'object' | 'rolloutName'>): NamespacedName {
  return { namespace: object.namespace, name: rolloutName };
}

/** Why the object cannot be bound yet. */
export function notStartedText({ object, rolloutName, version }: Adoption, seconds: number): string {
  const ref = rolloutRef({ object, rolloutName });
  return withCommands(
    `${named('Rollout', ref)} did not start with ${version} within ${seconds} s: a closed Gate blocks it, or Metacontroller is not running. Nothing is bound yet: run this again once it has started.`,
    ['To see what it waits for', shell`${OURS} why ${ref.name} -n ${ref.namespace}`],
  );
}

/** The command that does the same: `kubectl rollouts -n shop adopt kustomization/checkout --apply`. */
export function adoptCommandOf(
  { kind, namespace, name }: Adoption['object'],
  choices: Choices,
  program = PROGRAM,
): string {
  const chosen = (['policy', 'variable', 'rollout', 'runs'] as const).flatMap((key) =>
    choices[key] ? [`--${key}`, choices[key]] : [],
  );
  const bake = [
    ...(choices.bakeTime ? ['--bake-time', choices.bakeTime] : []),
    ...(choices.deployTimeout ? ['--deploy-timeout', choices.deployTimeout] : []),
    ...(choices.noBake ? ['--no-bake'] : []),
  ];
  return `${program} ${['-n', namespace, 'adopt', `${kind.toLowerCase()}/${name}`, ...chosen, ...bake, '--apply'].map(quote).join(' ')}`;
}
