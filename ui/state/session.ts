/**
 * Requests to the server, and their authorization: on the user's machine a key from the address, after the #, which
 * browsers don't send; in a cluster the cookie of a session, which no script can read.
 */
import type { ActionRequest } from '../../client/actions/action.ts';
import type { AdoptList, AdoptPreview, AdoptRequest } from '../../client/board/adoptViews.ts';
import type { Answer, ApplicationPageData, ObjectPageData, Preview } from '../../client/board/pageMessages.ts';
import { Refused } from './refused.ts';
import { query } from './route.ts';

const KEY = 'rollouts-token';

/** The key from the address, which is stored for its port, so that links work in other tabs. */
function tokenOfAddress(): string {
  const found = /[#&]token=([\w-]+)/.exec(location.hash)?.[1];
  if (found) {
    localStorage.setItem(KEY, found);
    history.replaceState(history.state, '', location.pathname + location.search);
  }
  return localStorage.getItem(KEY) ?? '';
}

const token = tokenOfAddress();
/** Whether the page has a key: its server then runs on the user's machine. */
export const hasKey = token !== '';

/** The message about credentials that an API server refuses. `cluster`: its name, if several are shown. */
export function credentialsRefused(cluster?: string): string {
  const at = cluster === undefined ? '' : ` for cluster ${cluster}`;
  return hasKey
    ? `Your credentials${at} are no longer accepted: sign in again as you do for kubectl.`
    : `This page's own credentials${at} are not accepted: its administrator has to renew them.`;
}

export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = {
    ...(init.headers as Record<string, string>),
    ...(hasKey && { authorization: `Bearer ${token}` }),
    'x-rollouts-page': '1',
  };
  const response = await fetch(path, { ...init, headers, cache: 'no-store' }).catch((error: Error) => {
    throw error.name === 'AbortError'
      ? error
      : new Refused(0, 'The server of this page does not answer: check that it runs.');
  });
  if (response.ok) return response;
  const { message, signIn } = (await response
    .json()
    .catch(() => ({ message: `The server of this page answers with HTTP ${response.status}.` }))) as {
    message: string;
    signIn?: string;
  };
  throw new Refused(response.status, message, signIn);
}

const get = async <T>(path: string, signal: AbortSignal): Promise<T> =>
  (await request(path, { signal })).json() as Promise<T>;

const post = async <T>(path: string, body: unknown): Promise<T> =>
  (
    await request(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  ).json() as Promise<T>;

/** The path with the cluster in the address. */
const inCluster = (path: string, cluster = query.peek().cluster) =>
  cluster === undefined ? path : `${path}?cluster=${encodeURIComponent(cluster)}`;

const item = (id: string) => id.split('/').map(encodeURIComponent).join('/');

export const api = {
  application: (id: string, signal: AbortSignal, cluster?: string) =>
    get<ApplicationPageData>(inCluster(`/api/applications/${item(id)}`, cluster), signal),
  object: (kind: string, id: string, signal: AbortSignal) =>
    get<ObjectPageData>(inCluster(`/api/objects/${kind}/${item(id)}`), signal),
  dryRun: (action: ActionRequest, basis?: string) =>
    post<Answer>(inCluster('/api/act'), { action, basis, dryRun: true }),
  /** `basis`: that of the offered action. */
  act: (action: ActionRequest, basis?: string) => post<Answer>(inCluster('/api/act'), { action, basis }),
  adoptable: (signal: AbortSignal) => get<AdoptList>(inCluster('/api/adopt'), signal),
  previewAdoption: (requested: AdoptRequest) => post<AdoptPreview>(inCluster('/api/adopt/preview'), { requested }),
  makeAdoption: (requested: AdoptRequest, agreed: string) =>
    post<Answer>(inCluster('/api/adopt/make'), { requested, agreed }),
  signOut: (path: string) => post<unknown>(path, {}),
  preview: (action: ActionRequest) => post<Preview>(inCluster('/api/preview'), { action }),
};
