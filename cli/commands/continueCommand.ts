import { KINDS, resourceOf } from '../../api/kinds.ts';
import type { Budget } from '../../api/types.ts';
import { blockedVersions, budgetKind } from '../../client/actions/writes/budgetWrites.ts';
import { noChange, objectTitle } from '../../client/actions/writes/plannedWrite.ts';
import { Problem } from '../../client/problem.ts';
import type { Cluster } from '../../connection/kube/cluster.ts';
import { unlessRefused } from '../../connection/kube/kubeClient.ts';
import { readTarget } from '../../connection/read/namedObjects.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { shell } from '../../core/text/shell.ts';
import type { CommandDefinition, Context } from '../command/command.ts';
import { CONTINUE_WAIT_OPTIONS, WRITE_OPTIONS } from '../command/options.ts';
import { act } from '../write/act.ts';
import { GATE_WAIT_CODES } from '../write/awaitGate.ts';
import { choose } from '../write/choose.ts';

export const continueCommand: CommandDefinition = {
  description: `Resumes a version that a budget stopped after failures.

The failures so far are excused, and your name is recorded. After as many new failures the budget stops the version again.
The command lists where the version has failed, and asks you to confirm.`,
  arguments: [
    { syntax: '<budget>', help: 'a RolloutBudget, or clusterrolloutbudget/fleet', completes: 'budgets' },
    { syntax: '[version]', help: 'a tag, or <image>:<tag>; the version that it blocks when absent' },
  ],
  options: [...WRITE_OPTIONS, ...CONTINUE_WAIT_OPTIONS],
  exitCodes: GATE_WAIT_CODES,
  examples: [
    ['the version did not cause its failures', "continue fleet 1.2.0 -n shop --reason 'the database was down'"],
    ['at a budget of the whole cluster', "continue clusterrolloutbudget/fleet --reason 'the database was down'"],
  ],
  async run(context, invocation) {
    const [text = '', version] = invocation.arguments as [string, string?];
    const cluster = await context.cluster();
    let chosen = version;
    return act(context, invocation, {
      read: () => readBudget(cluster, text),
      async request(budget) {
        chosen ??= await chooseHeldVersion(context, budget, text);
        const title = objectTitle(budgetKind(budget), identityOf(budget));
        if (chosen === undefined) return noChange(`${title} blocks no version after failures.`);
        return { type: 'continue', version: chosen };
      },
    });
  },
};

/** The version that the budget holds, or the user's choice of several; undefined if it holds none. */
async function chooseHeldVersion(context: Context, budget: Budget, text: string): Promise<string | undefined> {
  const blocked = blockedVersions(budget);
  if (blocked.length === 0) return undefined;
  const { namespace } = identityOf(budget);
  const scope = { expanded: namespace ? shell` -n ${namespace}` : '' };
  const choices = blocked.map(({ name, of }) => ({
    text: `${name}, which has failed ${of.failed === 1 ? 'once' : `${of.failed} times`}`,
    command: shell`continue ${text} ${name}${scope}`,
    value: name,
  }));
  return choose(context, `${refKey(identityOf(budget))} blocks more than one version.`, choices);
}

/**
 * Reads a budget. `fleet` is a RolloutBudget of the namespace, else a ClusterRolloutBudget;
 * `clusterrolloutbudget/fleet` is always the latter. @throws Problem if there is none
 */
async function readBudget(cluster: Cluster, text: string): Promise<Budget> {
  const { client, namespace } = cluster;
  if (text.includes('/')) {
    const { kind, object } = await readTarget(cluster, text);
    if (kind === 'RolloutBudget' || kind === 'ClusterRolloutBudget') return object as Budget;
    throw new Problem(`${object.kind} '${object.metadata.name}' is not a budget.`);
  }
  const own = await client.get<Budget>({ ...resourceOf(KINDS.RolloutBudget), namespace, name: text });
  if (own) return own;
  const ofCluster = await unlessRefused(
    client.get<Budget>({ ...resourceOf(KINDS.ClusterRolloutBudget), name: text }),
    403,
  );
  if (ofCluster) return ofCluster;
  // Throws, with a hint if the name exists in another namespace.
  return (await readTarget(cluster, `rolloutbudget/${text}`)).object as Budget;
}
