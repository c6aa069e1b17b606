/** What kstatus says of an object, and short ways to say it. */

export type KStatusName = 'Current' | 'InProgress' | 'Failed' | 'Terminating' | 'Unknown';

export interface KStatus {
  /** Unknown: the object says something that no rule knows. */
  status: KStatusName;
  message: string;
}

export const current = (message: string): KStatus => ({ status: 'Current', message });
export const inProgress = (message: string): KStatus => ({ status: 'InProgress', message });
export const failed = (message: string): KStatus => ({ status: 'Failed', message });
