/** The key to the server, and requests with it. It comes in the address, behind the #, which no server is ever sent. */
import type { ActionRequest } from '../../client/actions/action.ts';
import type { AdoptList, AdoptPreview, AdoptRequest } from '../../client/board/adoptViews.ts';
import type { Answer, ApplicationPage, GatePage, ObjectPage, Preview } from '../../client/board/pageMessages.ts';

const KEY = 'rollouts-token';

/** Kept for this address and port alone, so that a link opened in another tab shows the same. */
function takeToken(): string {
  const found = /[#&]token=([\w-]+)/.exec(location.hash)?.[1];
  if (found) {
    localStorage.setItem(KEY, found);
    history.replaceState(history.state, '', location.pathname + location.search);
  }
  return localStorage.getItem(KEY) ?? '';
}

const token = takeToken();

/** What the server answered instead of what was asked for; status 0: nobody answered. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${token}` };
  const response = await fetch(path, { ...init, headers, cache: 'no-store' }).catch((error: Error) => {
    throw error.name === 'AbortError' ? error : new Refused(0, 'The server of this page does not answer.');
  });
  if (response.ok) return response;
  const { message } = (await response.json().catch(() => ({ message: `HTTP ${response.status}` }))) as {
    message: string;
  };
  throw new Refused(response.status, message);
}

const get = async <T>(path: string, signal: AbortSignal): Promise<T> =>
  (await request(path, { signal })).json() as Promise<T>;

const post = async <T>(path: string, body: unknown): Promise<T> =>
  (
    await request(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  ).json() as Promise<T>;

const item = (id: string) => id.split('/').map(encodeURIComponent).join('/');

export const api = {
  application: (id: string, signal: AbortSignal) => get<ApplicationPage>(`/api/applications/${item(id)}`, signal),
  explanation: (kind: string, id: string, signal: AbortSignal) =>
    get<ObjectPage>(`/api/objects/${kind}/${item(id)}`, signal),
  gate: (id: string, signal: AbortSignal) => get<GatePage>(`/api/gates/${item(id)}`, signal),
  dryRun: (action: ActionRequest) => post<Answer>('/api/act', { action, dryRun: true }),
  /** `basis`: that of the answer to the dry run. */
  act: (action: ActionRequest, basis?: string) => post<Answer>('/api/act', { action, basis }),
  takeOvers: (signal: AbortSignal) => get<AdoptList>('/api/take-over', signal),
  takeOverLook: (requested: AdoptRequest) => post<AdoptPreview>('/api/take-over/look', { requested }),
  takeOverMake: (requested: AdoptRequest, agreed: string) => post<Answer>('/api/take-over/make', { requested, agreed }),
  preview: (action: ActionRequest) => post<Preview>('/api/preview', { action }),
};
