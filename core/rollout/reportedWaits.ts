/** The waits in DeploymentBlocked, and their sentences. */
import { RETRY, UNBLOCK_FAILED } from '../../api/annotations.ts';
import type { Blocker, HealthCheck, HistoryEntry, Rollout } from '../../api/types.ts';
import { verdictText } from '../approval/approvalVerdict.ts';
import { approveGateCommands, closedText } from '../gate/evaluateGates.ts';
import { identityOf } from '../kube/names.ts';
import { tagWord } from '../kube/tag.ts';
import { imageOfReleases } from '../policy/imagePolicy.ts';
import type { CommandLine, TextWithCommands } from '../text/commands.ts';
import { firstFew } from '../text/firstFew.ts';
import { shell } from '../text/shell.ts';
import type { Evaluation } from './decideDeployment.ts';
import { unhealthyMessage } from './deployment/healthChecks.ts';
import { movedTagText } from './deployment/history.ts';
import { UNHEALTHY_HEALTH_CHECKS } from './evaluation/blockers.ts';
import { copiesFirst } from './evaluation/copy.ts';
import { isAutomatic } from './evaluation/nextVersion.ts';
import type { RolloutContext } from './evaluation/observed.ts';
import { requestedText } from './evaluation/rolloutRequests.ts';
import { approveRolloutGateCommand, missingApprovals } from './evaluation/versionApprovals.ts';

/** A wait that DeploymentBlocked reports. */
export interface ReportedWait extends TextWithCommands {
  type: Blocker['type'];
  reason: string;
}

/** The waits that DeploymentBlocked reports, the first blocker of each kind: the first wait gives the reason. */
export function reportedWaits(
  { observed: { rollout, imagePolicy }, state, config }: RolloutContext,
  evaluation: Evaluation,
): ReportedWait[] {
  const { choice, pendingVersion: version, unhealthyChecks, blockers } = evaluation;
  const [head] = state.history;
  // As in the Go controller, also while no version waits.
  const [check] = isAutomatic(choice) ? unhealthyChecks : [];
  const health = check ? [healthWait(check)] : [];
  if (version === undefined) return health;
  const requested = choice.trigger === 'Manual' ? requestedText(rollout, version) : '';
  const moved =
    head && !copiesFirst(rollout) && !config.kuberikCompat
      ? movedTagText(head, { ...state, image: imageOfReleases(rollout, imagePolicy) })
      : undefined;
  const inputs = { rollout, by: requested && `, ${requested},`, version, head, moved, evaluation };
  const reported = blockers.filter((each) => each.version === version && isReported(each));
  const waits = [...Map.groupBy(reported, ({ type }) => type).values()].flatMap(([first]): ReportedWait[] => {
    const { type, reason, until } = first!;
    const sentence = SENTENCES[type]?.({ ...inputs, until });
    return sentence ? [{ type, reason, ...sentence }] : [];
  });
  return [...health, ...waits];
}

/** The message of DeploymentBlocked and of its Event, which names all waits. */
export function waitsText(reported: readonly ReportedWait[]): { message: string; commands: CommandLine[] } {
  return {
    message: reported.map(({ text }) => text).join('. '),
    commands: reported.flatMap(({ commands = [] }) => commands),
  };
}

function healthWait(check: HealthCheck): ReportedWait {
  return { type: 'Health', reason: UNHEALTHY_HEALTH_CHECKS, text: unhealthyMessage(check) };
}

/** Whether DeploymentBlocked reports the blocker. RolledBack reports a failure that is about to be rolled back. */
function isReported({ type, effect }: Blocker): boolean {
  return type !== 'Failure' || effect === 'Blocks';
}

// The sentences.

/** The inputs of a sentence. */
interface SentenceInputs {
  rollout: Rollout;
  /** `, requested by alice at …,`, or nothing. */
  by: string;
  /** The version that waits. */
  version: string;
  head: HistoryEntry | undefined;
  /** A clause, if the head's tag was moved to another image. */
  moved: string | undefined;
  /** The end of the kind's first blocker. */
  until: string | undefined;
  evaluation: Evaluation;
}

/** The sentence of a kind of blocker. None if the wait has a condition of its own. */
const SENTENCES: Partial<Record<Blocker['type'], (inputs: SentenceInputs) => TextWithCommands>> = {
  Gate: gatesText,
  Bake: bakeText,
  Failure: failureText,
  Approvals: approvalsText,
  MinimumAge: ageText,
  Copy: copyText,
};

/** Gates and RolloutGates that one sentence names. */
const MAX_GATES_IN_SENTENCE = 5;

function gatesText({ version, by, evaluation }: SentenceInputs): TextWithCommands {
  const { closed } = evaluation.versionGates;
  return {
    text: `Version ${version}${by} waits: ${closedText(closed)}`,
    commands: approveGateCommands(closed).slice(0, MAX_GATES_IN_SENTENCE),
  };
}

/** Missing approvals are reported even while a bake runs, because approving takes longer. */
function approvalsText({ version, by, evaluation: { requiredApprovals } }: SentenceInputs): TextWithCommands {
  const missing = missingApprovals(requiredApprovals, version);
  const all = firstFew(
    missing.map(({ gate, verdict }) => `RolloutGate '${gate.metadata.name}' has ${verdictText(verdict)}`),
    MAX_GATES_IN_SENTENCE,
  );
  return {
    text: `Version ${version}${by} waits for approvals: ${all}`,
    commands: missing.slice(0, 1).map(({ gate }) => approveRolloutGateCommand(gate, version)),
  };
}

function failureText({ rollout, version, head, moved }: SentenceInputs): TextWithCommands {
  const { namespace, name } = identityOf(rollout);
  const tag = head?.version.tag ?? '';
  const annotate = { expanded: shell`kubectl -n ${namespace} annotate --overwrite rollout.kuberik.com/${name}` };
  const retry: CommandLine = [`To retry ${tag}`, shell`${annotate} ${RETRY}=${tagWord(tag)}`];
  const next: CommandLine = ['To let automation deploy the next version', shell`${annotate} ${UNBLOCK_FAILED}=true`];
  return {
    text: `Version ${version} waits: ${tag} has failed${moved === undefined ? '' : `, and so would a retry: ${moved}`}`,
    commands: moved === undefined ? [retry, next] : [next],
  };
}

function bakeText({ version, head, until }: SentenceInputs): TextWithCommands {
  const end = until === undefined ? '' : ` until ${until}`;
  return { text: `Version ${version} waits for the bake of ${head?.version.tag}${end}` };
}

function ageText({ version, until }: SentenceInputs): TextWithCommands {
  const text = `Version ${version} waits until ${until}: spec.minimumReleaseAge counts from the release's discovery`;
  return { text };
}

function copyText({ version, by, evaluation: { copy } }: SentenceInputs): TextWithCommands {
  const message = copy && copy.progress.state !== 'Copied' ? copy.progress.message : '';
  return { text: `Version ${version}${by} waits for its copy to ${copy?.url}: ${message}` };
}
