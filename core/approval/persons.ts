/** Whose approval counts: users, distinguished by their names, and the ServiceAccounts that the rule lists. */
import type { ApprovalRule } from '../../api/types.ts';
import { Memo } from '../memo.ts';

const SYSTEM = 'system:';
const SERVICE_ACCOUNT = 'system:serviceaccount:';
/** Some distributions give their only administrator this name. */
const ADMINISTRATOR = 'system:admin';

/** A text with more words or characters counts as naming every user. */
const MAX_WORDS = 200;
const MAX_TEXT = 1024;

/** A decision asks of each approval. */
const known = new Memo<ReadonlySet<string> | undefined>(128);

/** Why this user's approval never counts; undefined if it may. */
export function notAPerson(user: string, rule: Pick<ApprovalRule, 'serviceAccounts'>): string | undefined {
  if (!user.startsWith(SYSTEM) || user === ADMINISTRATOR) return undefined;
  if (!user.startsWith(SERVICE_ACCOUNT)) return `${user} is not a person`;
  const name = user.slice(SERVICE_ACCOUNT.length).replace(':', '/');
  if (rule.serviceAccounts?.includes(name)) return undefined;
  return `${user} is a ServiceAccount and not listed in spec.approvals.serviceAccounts`;
}

/** Whether the user is a ServiceAccount: perhaps a Git sync, which a denial would stop. */
export function isServiceAccount(user: string): boolean {
  return user.startsWith(SERVICE_ACCOUNT);
}

/**
 * Whether a free text, such as `Alice Miller <alice@example.com>`, may mean this user.
 * In doubt it does: `oidc:Alice.Miller@example.com` is meant by an address with another domain, by `alice.miller`, and
 * by a text with both names.
 */
export function mayMean(text: string, user: string): boolean {
  const words = text.length > MAX_TEXT ? undefined : known.get(text, () => wordsOf(text));
  const name = lastPart(user.toLowerCase());
  const [local = name] = name.split('@');
  if (words === undefined || words.has(user.toLowerCase()) || words.has(name) || words.has(local)) return true;
  const parts = local.split(/[._+-]/).filter((part) => part !== '');
  return parts.length > 0 && parts.every((part) => words.has(part));
}

/** Each word, what is before its `@`, after its `+` and between its dots; undefined if there are too many. */
function wordsOf(text: string): ReadonlySet<string> | undefined {
  const words = text.toLowerCase().split(/[^\p{L}\p{N}._@+:#/-]+/u);
  if (words.length > MAX_WORDS) return undefined;
  const all = words.flatMap((word) => {
    const bare = lastPart(word.replace(/^[._+-]+|[._+-]+$/g, ''));
    const [local = bare] = bare.split('@');
    return [bare, local, ...local.split('+'), ...local.split(/[._+-]/)];
  });
  return new Set(all.filter((word) => word !== ''));
}

/** Without what an identity provider puts in front: `oidc:alice`, `https://idp.example.com#alice`. */
function lastPart(name: string): string {
  return name.split(/[:#/]/).findLast((part) => part !== '') ?? name;
}
