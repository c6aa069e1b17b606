/**
 * The speed that manifests/metacontroller recommends. A release takes about six requests, and so does each object that
 * a Gate opens or closes: at 300 per second a freeze of 1,000 objects waited 18 s for this limiter, with the API server
 * half idle.
 */
export const LIMITS = { qps: 1000, burst: 2000, workers: 20 };
