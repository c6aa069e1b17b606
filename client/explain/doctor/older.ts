/** Kinds of Flux that are served in older versions only: nothing here reads those. */
import { apiVersionOf, GOVERNED_KINDS } from '../../../api/kinds.ts';
import { type Finding, problem } from './finding.ts';

/**
 * A controller of Metacontroller does nothing for all its kinds while one of them is missing (docs/facts.md, M14).
 * @param served the kinds of each `group/version` of Flux that the API server serves
 */
export function olderFindings(served: ReadonlyMap<string, readonly string[]>): Finding[] {
  return GOVERNED_KINDS.flatMap((row) => {
    const serving = [...served].flatMap(([version, kinds]) =>
      version.startsWith(`${row.group}/`) && kinds.includes(row.kind) ? version : [],
    );
    const wanted = apiVersionOf(row);
    if (serving.length === 0 || serving.includes(wanted)) return [];
    return [
      problem(
        'Kinds',
        `${row.kind} is served as ${serving.join(' and ')} only, and ${wanted} is read: no Gate holds it, nor any other kind of ${row.group}`,
        'upgrade Flux to 2.7 or newer',
      ),
    ];
  });
}
