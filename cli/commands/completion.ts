import type { CommandDefinition } from '../command/command.ts';
import { SCRIPTS, SHELLS, type Shell } from '../terminal/completionScripts.ts';
import { EXIT, Problem } from '../terminal/exit.ts';

export const completion: CommandDefinition = {
  description: `Prints a script that completes commands, options and the names of your Rollouts and Gates for kubectl-rollouts and flux-rollouts.
\`kubectl rollouts\` and \`flux rollouts\` complete by kubectl's and flux's own scripts: kubectl asks kubectl_complete-rollouts, which has to be on the PATH as well.`,
  arguments: [{ syntax: '<shell>', help: SHELLS.join(', '), completes: SHELLS }],
  examples: [
    ['for this bash', 'completion bash > ~/.rollouts-completion && source ~/.rollouts-completion'],
    ['for fish', 'completion fish > ~/.config/fish/completions/kubectl-rollouts.fish'],
  ],
  isLocal: true,
  async run({ terminal }, { arguments: [shell] }) {
    const script = SCRIPTS[shell as Shell];
    if (script === undefined)
      throw new Problem(`There is no completion for '${shell}', only for ${SHELLS.join(', ')}.`, EXIT.usage);
    terminal.write(script);
    return EXIT.ok;
  },
};
