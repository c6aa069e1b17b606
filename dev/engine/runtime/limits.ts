/** Whatever drives the hooks is driven at the speed that manifests/metacontroller recommends (docs/adr/0017). */
export const LIMITS = { qps: 1000, burst: 2000, workers: 20 };
