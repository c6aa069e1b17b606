import { spawn } from 'node:child_process';

const OPENERS: Record<string, readonly string[]> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens the address in a browser, and ignores failures: the address is printed too. */
export function openBrowser(address: string): void {
  const [command = '', ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(command, [...args, address], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}
