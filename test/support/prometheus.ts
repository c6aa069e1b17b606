import { hasPrometheus } from '../../dev/local/monitoring/prometheus.ts';

/** The title of tests for `runIf(hasPrometheus)`, with their requirement if they are skipped. */
export const withPrometheus = (title: string): string =>
  hasPrometheus ? title : `${title} (skipped: Prometheus is built with MONITORING=true)`;
