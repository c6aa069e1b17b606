/** A page with one message, for browsers without a session: without a script, and in the page's style. */
import type { Assets } from '../assets.ts';

interface Message {
  title: string;
  text: string;
  /** The address that the browser opens next; absent: the page offers to sign in. */
  to?: string;
}

export function messagePage({ title, text, to }: Message, assets: Assets): string {
  const style = [...assets.keys()].find((path) => path.endsWith('.css'));
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${escapeHtml(title)}</title>
    ${to === undefined ? '' : `<meta http-equiv="refresh" content="0; url=${escapeHtml(to)}" />`}
    ${style === undefined ? '' : `<link rel="stylesheet" href="${escapeHtml(style)}" />`}
  </head>
  <body>
    <main>
      <h1>${escapeHtml(title)}</h1>
      <p>${escapeHtml(text)}</p>
      <p><a href="${escapeHtml(to ?? '/sign-in')}">${to === undefined ? 'Sign in' : 'Continue'}</a></p>
    </main>
  </body>
</html>
`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (found) => ENTITIES[found]!);
}
