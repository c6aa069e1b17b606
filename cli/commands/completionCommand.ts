import { EXIT, Problem } from '../../client/problem.ts';
import type { CommandDefinition } from '../command/command.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

const PROGRAMS = ['kubectl-rollouts', 'flux-rollouts'];

/** The completion scripts, which call the program by Cobra's protocol. */
const SCRIPTS: Record<Shell, string> = {
  bash: `# bash completion for ${PROGRAMS.join(' and ')}
_rollouts() {
  local out line words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=()
  out=$("\${COMP_WORDS[0]}" __complete "\${words[@]}" 2>/dev/null) || return
  local directive=\${out##*:}
  while IFS='' read -r line; do
    [[ $line == :* ]] || COMPREPLY+=("\${line%%$'\\t'*}")
  done <<<"$out"
  (( directive & 2 )) && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _rollouts ${PROGRAMS.join(' ')}
`,
  zsh: `#compdef ${PROGRAMS.join(' ')}
# zsh completion for ${PROGRAMS.join(' and ')}
_rollouts() {
  local out line directive
  local -a candidates flags
  out=$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null) || return
  for line in "\${(@f)out}"; do
    if [[ $line == :* ]]; then
      directive=\${line#:}
    else
      candidates+=("\${\${line//:/\\\\:}/$'\\t'/:}")
    fi
  done
  (( directive & 2 )) && flags=(-S '')
  _describe 'rollouts' candidates $flags
}
compdef _rollouts ${PROGRAMS.join(' ')}
`,
  fish: `# fish completion for ${PROGRAMS.join(' and ')}
function __rollouts_complete
  set -l words (commandline -opc) (commandline -ct)
  command $words[1] __complete $words[2..-1] 2>/dev/null | string match -v ':*'
end
${PROGRAMS.map((program) => `complete -c ${program} -f -a '(__rollouts_complete)'`).join('\n')}
`,
};

export const completion: CommandDefinition = {
  description: `Prints a script that completes commands, options, versions and names of Rollouts and Gates.

The script is for kubectl-rollouts and flux-rollouts. \`kubectl rollouts\` and \`flux rollouts\` complete by kubectl's and flux's own scripts: kubectl calls kubectl_complete-rollouts, which must be on the PATH as well.`,
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
