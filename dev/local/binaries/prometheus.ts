/** Prometheus and promtool, as dev/tools/prometheus pins them. */
import { cachedGoBinary, provideGoBinary } from './goBinary.ts';

const MODULE = 'prometheus';
/** Service discovery of every cloud is most of the build. */
const TAGS = 'remove_all_sd';

type Program = 'prometheus' | 'promtool';
const PROGRAMS: readonly Program[] = ['prometheus', 'promtool'];

/** Where they were built before, or MONITORING=true: to build them takes several minutes (CONTRIBUTING.md). */
export const hasPrometheus: boolean =
  process.env.MONITORING === 'true' || PROGRAMS.every((name) => cachedGoBinary(MODULE, name) !== undefined);

/** Resolves to the path of the binary. */
export const providePrometheus = (name: Program): Promise<string> =>
  provideGoBinary(MODULE, `github.com/prometheus/prometheus/cmd/${name}`, { name, tags: TAGS });
