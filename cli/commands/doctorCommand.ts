import { EXIT } from '../../client/problem.ts';
import { structuredText } from '../../connection/kube/objectText.ts';
import { countOf } from '../../core/text/count.ts';
import type { CommandDefinition } from '../command/command.ts';
import { outputOption } from '../command/options.ts';
import { forSameCluster } from '../command/sameCluster.ts';
import { checkBudgets } from '../doctor/checkBudgets.ts';
import { checkDelivery } from '../doctor/checkDelivery.ts';
import { checkFluxObjects } from '../doctor/checkFluxObjects.ts';
import { checkHealthChecks } from '../doctor/checkHealthChecks.ts';
import { checkKinds, checkVersion } from '../doctor/checkKinds.ts';
import { checkAwake, checkControllers, checkMetacontroller, checkServer } from '../doctor/checkMetacontroller.ts';
import { checkReferences } from '../doctor/checkReferences.ts';
import { checkRights } from '../doctor/checkRights.ts';
import { checkAdmission, checkServingCertificate, checkWebhooks } from '../doctor/checkWebhooks.ts';
import { checkWriteBack } from '../doctor/checkWriteBack.ts';
import type { Check, Finding } from '../doctor/finding.ts';
import { wrapText } from '../terminal/columns.ts';
import { type Style, styleOf, type TerminalTone } from '../terminal/style.ts';

/** The checks, in the order of the output. */
const CHECKS: readonly Check[] = [
  checkVersion,
  checkKinds,
  checkServer,
  checkDelivery,
  checkWebhooks,
  checkServingCertificate,
  checkAdmission,
  checkMetacontroller,
  checkControllers,
  checkAwake,
  checkRights,
  checkReferences,
  checkFluxObjects,
  checkWriteBack,
  checkHealthChecks,
  checkBudgets,
];

export const doctorCommand: CommandDefinition = {
  description: `Checks the installation, and shows how to fix each finding. It checks:

- versions, kinds, webhooks and their certificates, and whether the API server reaches them (by a dry run that stores nothing),
- Metacontroller, and the rights of our ServiceAccounts,
- references to objects that don't exist, Rollouts to which no object is bound, and annotations without effect,
- Kustomizations that wait for Gates of their own, and applies that would reset versions if admission were removed,
- Rollouts whose version no ImageUpdateAutomation commits,
- HealthChecks that aren't allowed to query their MetricProvider, or to read an object of their Kustomization,
- budgets that select more than a request can carry, or share slots with every namespace.

Whatever you aren't allowed to read is listed as not checked.`,
  options: [outputOption('json', 'yaml')],
  examples: [
    ['the whole cluster', 'doctor'],
    ['objects of one namespace', 'doctor -n shop'],
  ],
  exitCodes: [[EXIT.error, 'a finding, or an error: one sentence on standard error']],
  async run(context, { options }) {
    const { terminal, now, signal, flags } = context;
    const { client, namespace: home } = await context.cluster();
    const inputs = { client, namespace: flags.namespace, home, now, signal };
    const results = await Promise.all(CHECKS.map((check) => check(inputs)));
    const unique = new Map(results.flat().map((each) => [JSON.stringify(each), each]));
    const findings = [...unique.values()].map((each) =>
      each.command === undefined ? each : { ...each, command: forSameCluster(each.command, flags) },
    );
    const problems = findings.filter(({ level }) => level === 'problem').length;
    if (options.output) terminal.printText(await structuredText({ findings, problems }, options.output));
    else {
      const style = styleOf(context);
      for (const finding of findings) for (const line of findingLines(finding, style)) terminal.print(line);
      const unseen = findings.filter(({ level }) => level === 'unseen').length;
      const summary = problems === 0 ? 'No findings' : countOf(problems, 'finding');
      terminal.note(`${summary}${unseen > 0 ? `; ${unseen} not checked` : ''}.`);
    }
    return problems === 0 ? EXIT.ok : EXIT.error;
  },
};

const TONES: Record<Finding['level'], TerminalTone> = { fine: 'good', problem: 'bad', unseen: 'quiet' };

function findingLines({ level, about, text, fix, command }: Finding, style: Style): string[] {
  const line = `${style.strong(about)}: ${level === 'unseen' ? 'not checked: ' : ''}${style.text(text)}`;
  const lines = wrapText(line, style.columns && style.columns - 2);
  const help = fix ? wrapText(`→ ${fix}`, style.columns && style.columns - 4) : [];
  return [
    ...lines.map((line, index) => (index === 0 ? `${style.symbol(TONES[level])} ${line}` : `  ${line}`)),
    ...help.map((line) => `    ${style.faint(line)}`),
    // Not wrapped: a line feed in the middle would be pasted too.
    ...(command ? [`      ${command}`] : []),
  ];
}
