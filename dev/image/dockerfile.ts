/** The part of the Dockerfile language that our Dockerfile uses. Anything else throws. */

/** A stage of the Dockerfile: from one FROM to the next. */
export interface Stage {
  /** An image, or the name of an earlier stage. */
  base: string;
  /** The stage's name, or empty. */
  name: string;
  steps: Step[];
}

export type Step =
  | { does: 'copy'; from?: string; sources: string[]; to: string }
  | { does: 'run'; script: string }
  | { does: 'workdir'; dir: string }
  | { does: 'env'; name: string; value: string }
  | { does: 'user'; user: string }
  | { does: 'entrypoint'; command: string[] }
  | { does: 'expose'; ports: number[] };

export function parseDockerfile(text: string): Stage[] {
  const stages: Stage[] = [];
  for (const line of instructionsIn(text)) {
    const [, instruction = '', rest = ''] = /^([A-Z]+)\s+(.+)$/s.exec(line) ?? [];
    if (instruction === 'FROM') {
      const [, base, name = ''] = /^(?:--platform=\S+ )?(\S+)(?: AS (\S+))?$/.exec(rest) ?? [];
      if (!base) throw unknown(line);
      stages.push({ base, name, steps: [] });
    } else {
      const stage = stages.at(-1);
      const step = STEPS[instruction]?.(rest);
      if (!stage || !step) throw unknown(line);
      stage.steps.push(step);
    }
  }
  return stages;
}

/** The instructions, without comments and with continued lines joined. */
function instructionsIn(text: string): string[] {
  const lines = text.split('\n').filter((line) => !line.startsWith('#'));
  return lines
    .join('\n')
    .replaceAll('\\\n', '')
    .split('\n')
    .filter((line) => line.trim() !== '');
}

const STEPS: Record<string, (rest: string) => Step | undefined> = {
  COPY(rest) {
    const [, from, paths = ''] = /^(?:--from=(\S+) )?((?!--).+)$/.exec(rest) ?? [];
    const sources = paths.split(' ');
    const to = sources.pop();
    return to && sources.length > 0 ? { does: 'copy', ...(from && { from }), sources, to } : undefined;
  },
  RUN: (script) => ({ does: 'run', script }),
  WORKDIR: (dir) => ({ does: 'workdir', dir }),
  ENV(rest) {
    const [, name, value] = /^(\w+)=(\S+)$/.exec(rest) ?? [];
    return name && value ? { does: 'env', name, value } : undefined;
  },
  USER: (user) => ({ does: 'user', user }),
  ENTRYPOINT: (rest) => ({ does: 'entrypoint', command: JSON.parse(rest) }),
  EXPOSE: (rest) => ({ does: 'expose', ports: rest.split(' ').map(Number) }),
};

const unknown = (line: string) =>
  new Error(`Dockerfile: ${JSON.stringify(line)} is not understood by dev/image/dockerfile.ts`);
